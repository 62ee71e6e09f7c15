//! Links the addon the way Node loads it.

fn main() {
    napi_build::setup();
    // The engine's threads outlive a worker that was the only one to load the
    // addon, so its code must never be unmapped.
    println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
}
