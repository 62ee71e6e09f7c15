use super::*;

#[test]
fn a_pattern_matches_as_a_whole_and_in_any_case() {
    for (pattern, name, is_match) in [
        ("TOKEN", "token", true),
        ("TOKEN", "TOKENS", false),
        ("*_KEY", "my_key", true),
        ("*_KEY", "KEY", false),
        ("*API_KEY*", "XAPI_KEYX", true),
        ("*API_KEY*", "API_KEY", true),
        ("RABBITMQ*_URL", "RABBITMQ_URL", true),
        ("RABBITMQ*_URL", "RABBITMQ_UR", false),
        ("A*A", "A", false),
        ("A*B*C", "AXBXBXC", true),
    ] {
        assert_eq!(matches(pattern, name.as_bytes()), is_match, "{pattern} {name}");
    }
}

#[test]
fn a_password_in_a_url_is_seen() {
    for (value, is_secret) in [
        ("https://user:word@host", true),
        ("redis://:word@host", true),
        ("https://user@host", false),
        ("https://user:@host", false),
        ("https://host/a:b@c", false),
        ("://user:word@host", false),
        ("x https://a b:c@d http://a:b@c", true),
        ("https://user:word", false),
    ] {
        assert_eq!(has_password(value.as_bytes()), is_secret, "{value}");
    }
}
