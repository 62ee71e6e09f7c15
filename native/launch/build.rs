//! Compiles the C++ between clone and exec.

fn main() {
    for file in ["descriptors.h", "descriptors_linux.cc", "launch.h", "launch_linux.cc"] {
        println!("cargo:rerun-if-changed={file}");
    }
    cc::Build::new()
        .cpp(true)
        .cpp_link_stdlib(None)
        .std("c++17")
        .flag("-fno-exceptions")
        .flag("-fno-rtti")
        .flag("-Wall")
        .flag("-Wextra")
        .file("descriptors_linux.cc")
        .file("launch_linux.cc")
        .compile("forkline_launch");
}
