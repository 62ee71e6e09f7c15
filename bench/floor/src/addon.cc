// The floor's interface to JavaScript: arguments in, nanoseconds out.
#include <napi.h>

#include <deque>
#include <exception>

#include "measures.h"

namespace {

using bench::Command;
using bench::Way;

std::vector<std::string> strings(const Napi::Value &value) {
  Napi::Array array = value.As<Napi::Array>();
  std::vector<std::string> result;
  for (uint32_t index = 0; index < array.Length(); index++)
    result.push_back(array.Get(index).As<Napi::String>().Utf8Value());
  return result;
}

// { file, args, env }: args with argv[0], env as KEY=value strings.
Command command_of(const Napi::Value &value) {
  Napi::Object object = value.As<Napi::Object>();
  return Command(object.Get("file").As<Napi::String>().Utf8Value(), strings(object.Get("args")),
                 strings(object.Get("env")));
}

Way way_of(const Napi::Value &value) {
  std::string name = value.As<Napi::String>().Utf8Value();
  if (name == "spawn") return Way::kSpawn;
  if (name == "launch") return Way::kLaunch;
  if (name == "cradle") return Way::kCradle;
  throw Napi::TypeError::New(value.Env(),
                             "way must be 'spawn', 'launch' or 'cradle', not '" + name + "'");
}

uint32_t count_of(const Napi::Value &value) {
  return value.As<Napi::Number>().Uint32Value();
}

// Converts C++ errors to JavaScript errors; Napi's own already are.
template <Napi::Value (*measure)(const Napi::CallbackInfo &)>
Napi::Value guarded(const Napi::CallbackInfo &info) {
  try {
    return measure(info);
  } catch (const Napi::Error &) {
    throw;
  } catch (const std::exception &error) {
    throw Napi::Error::New(info.Env(), error.what());
  }
}

Napi::Value latency(const Napi::CallbackInfo &info) {
  Command command = command_of(info[1]);
  std::vector<double> times = bench::latency(way_of(info[0]), command, count_of(info[2]));
  Napi::Float64Array result = Napi::Float64Array::New(info.Env(), times.size());
  for (size_t index = 0; index < times.size(); index++) result[index] = times[index];
  return result;
}

// One command on a thread of Node's pool, whose end resolves a promise.
class Awaited : public Napi::AsyncWorker {
 public:
  Awaited(const Napi::CallbackInfo &info)
      : Napi::AsyncWorker(info.Env()),
        way_(way_of(info[0])),
        command_(command_of(info[1])),
        ended_(Napi::Promise::Deferred::New(info.Env())) {
  }

  Napi::Promise promise() const {
    return ended_.Promise();
  }

 private:
  void Execute() override {
    bench::latency(way_, command_, 1);
  }
  void OnOK() override {
    ended_.Resolve(Env().Undefined());
  }
  void OnError(const Napi::Error &error) override {
    ended_.Reject(error.Value());
  }

  Way way_;
  Command command_;
  Napi::Promise::Deferred ended_;
};

Napi::Value awaited(const Napi::CallbackInfo &info) {
  Awaited *worker = new Awaited(info);  // deletes itself when it has ended
  Napi::Promise promise = worker->promise();
  worker->Queue();
  return promise;
}

Napi::Value throughput(const Napi::CallbackInfo &info) {
  Napi::Array given = info[1].As<Napi::Array>();
  // A deque, since commands must not move: they point into themselves.
  std::deque<Command> held;
  std::vector<const Command *> commands;
  for (uint32_t index = 0; index < given.Length(); index++) {
    Napi::Object one = given.Get(index).As<Napi::Object>();
    commands.push_back(&held.emplace_back(one.Get("file").As<Napi::String>().Utf8Value(),
                                          strings(one.Get("args")), strings(one.Get("env"))));
  }
  double ns = bench::throughput(way_of(info[0]), commands, count_of(info[2]), count_of(info[3]));
  return Napi::Number::New(info.Env(), ns);
}

Napi::Value drain(const Napi::CallbackInfo &info) {
  Command command = command_of(info[1]);
  std::string path = info[2].IsString() ? info[2].As<Napi::String>().Utf8Value() : "";
  bench::Drained drained =
      bench::drain(way_of(info[0]), command, path.empty() ? nullptr : path.c_str());
  Napi::Object result = Napi::Object::New(info.Env());
  result.Set("ns", drained.ns);
  result.Set("bytes", static_cast<double>(drained.bytes));
  return result;
}

Napi::Value kill_group(const Napi::CallbackInfo &info) {
  Command command = command_of(info[0]);
  return Napi::Number::New(info.Env(), bench::kill_group(command, count_of(info[1])));
}

Napi::Value adopt_orphans(const Napi::CallbackInfo &info) {
  bench::adopt_orphans();
  return info.Env().Undefined();
}

Napi::Value await_orphans(const Napi::CallbackInfo &info) {
  bench::await_orphans(info[0].As<Napi::Number>().DoubleValue());
  return info.Env().Undefined();
}

Napi::Object initialise(Napi::Env env, Napi::Object exports) {
  exports.Set("latency", Napi::Function::New<guarded<latency>>(env));
  exports.Set("awaited", Napi::Function::New<guarded<awaited>>(env));
  exports.Set("throughput", Napi::Function::New<guarded<throughput>>(env));
  exports.Set("drain", Napi::Function::New<guarded<drain>>(env));
  exports.Set("killGroup", Napi::Function::New<guarded<kill_group>>(env));
  exports.Set("adoptOrphans", Napi::Function::New<guarded<adopt_orphans>>(env));
  exports.Set("awaitOrphans", Napi::Function::New<guarded<await_orphans>>(env));
  return exports;
}

}  // namespace

NODE_API_MODULE(floor, initialise)
