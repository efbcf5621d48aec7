//! Text in the forms that HTTP wants it in. What is written goes to a text of the caller's: a secret is copied nowhere
//! else.

/// Appends `bytes` in base64, padded (RFC 4648, section 4).
pub(crate) fn base64_into(out: &mut String, bytes: &[u8]) {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for group in bytes.chunks(3) {
        let bits = group.iter().fold(0, |bits, byte| bits << 8 | usize::from(*byte)) << (8 * (3 - group.len()));
        for digit in 0..4 {
            match digit <= group.len() {
                true => out.push(char::from(ALPHABET[bits >> (18 - 6 * digit) & 0x3f])),
                false => out.push('='),
            }
        }
    }
}

/// Appends `text` as the value of a form (`application/x-www-form-urlencoded`, RFC 6749, appendix B).
pub(crate) fn form_into(out: &mut String, text: &str) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'*' | b'-' | b'.' | b'_' => out.push(char::from(byte)),
            b' ' => out.push('+'),
            _ => {
                out.push('%');
                out.push(char::from(DIGITS[usize::from(byte >> 4)]));
                out.push(char::from(DIGITS[usize::from(byte & 0xf)]));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(write: fn(&mut String, &[u8]), bytes: &[u8]) -> String {
        let mut out = String::new();
        write(&mut out, bytes);
        out
    }

    // Rule 3.12.
    #[test]
    fn base64() {
        // RFC 4648, section 10.
        for (bytes, text) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(written(base64_into, bytes.as_bytes()), text);
        }
        assert_eq!(written(base64_into, &[0xfb, 0xff, 0xbf]), "+/+/");
    }

    // Rule 3.12.
    #[test]
    fn forms() {
        let mut out = String::new();
        // RFC 6749, appendix B.
        form_into(&mut out, " %&+\u{a3}\u{20ac}");
        form_into(&mut out, "aZ09*-._~:/");
        assert_eq!(out, "+%25%26%2B%C2%A3%E2%82%ACaZ09*-._%7E%3A%2F");
    }
}
