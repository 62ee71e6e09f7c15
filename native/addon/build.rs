//! Links the addon in the way that Node loads it.

fn main() {
    napi_build::setup();
    // The engine's threads outlive a worker that alone has loaded the addon, so its code must never be
    // unmapped.
    println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
}
