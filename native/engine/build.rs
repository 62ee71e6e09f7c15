//! Compiles `native/launch`, the C++ between clone and exec.

fn main() {
    println!("cargo:rerun-if-changed=../launch");
    cc::Build::new()
        .cpp(true)
        .cpp_link_stdlib(None)
        .std("c++17")
        .flag("-fno-exceptions")
        .flag("-fno-rtti")
        .flag("-Wall")
        .flag("-Wextra")
        .file("../launch/holder_linux.cc")
        .file("../launch/descriptors_linux.cc")
        .file("../launch/launch_linux.cc")
        .compile("forkline_launch");
}
