#pragma once

#include <utility>

// HOT PATH
namespace hekla::framework {

// A bound member function: two words, no allocation, one indirect call.
template <typename Signature>
class Callback;

template <typename R, typename... Args>
class Callback<R(Args...)> {
 public:
  template <auto Method, typename T>
  static Callback Bind(T& object) {
    Callback c;
    c.object_ = &object;
    c.call_ = [](void* self, Args... args) -> R {
      return (static_cast<T*>(self)->*Method)(std::forward<Args>(args)...);
    };
    return c;
  }
  R operator()(Args... args) const { return call_(object_, std::forward<Args>(args)...); }

 private:
  void* object_ = nullptr;
  R (*call_)(void*, Args...) = nullptr;
};

}  // namespace hekla::framework
