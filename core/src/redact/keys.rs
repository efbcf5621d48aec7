//! A private key that is printed at another width has none of its lines left. So its body is looked for in short
//! pieces, too, wherever the lines break.

use zeroize::Zeroizing;

use super::encodings::Pattern;

/// In characters of base64: 48 bits do not turn up by chance.
const PIECE: usize = 8;
/// Less than four characters are left at either side of a break.
const STEP: usize = 4;
/// Keys of one kind all begin alike, and their certificates have parts of that in them: evidence.
const COMMON_BEGINNING: usize = 48;
/// Fewer different characters than this are padding, which other data has as well.
const FEWEST_DIFFERENT: usize = 5;

/// Adds the pieces of the private key (RFC 7468) that `secret` is, if it is one.
pub(super) fn add_pieces(secret: &str, out: &mut Vec<Pattern>) {
    let body = body(secret);
    let Some(last) = body.len().checked_sub(PIECE) else { return };
    let starts = (COMMON_BEGINNING..last).step_by(STEP).chain([last.max(COMMON_BEGINNING)]);
    let pieces = starts.filter_map(|start| body.get(start..start + PIECE)).filter(|piece| is_varied(piece));
    out.extend(pieces.map(|piece| Zeroizing::new(piece.to_vec())));
}

/// The base64 between the first pair of armour lines, in one line.
fn body(secret: &str) -> Zeroizing<Vec<u8>> {
    let mut body = Zeroizing::new(Vec::with_capacity(secret.len()));
    let lines = secret.lines().map(str::trim).skip_while(|line| !begins_private_key(line)).skip(1);
    for line in lines.take_while(|line| !line.starts_with("-----")).filter(|line| !line.contains(':')) {
        body.extend_from_slice(line.as_bytes());
    }
    body
}

fn begins_private_key(line: &str) -> bool {
    line.starts_with("-----BEGIN ") && line.contains("PRIVATE KEY")
}

fn is_varied(piece: &[u8]) -> bool {
    let first_time = |(at, byte): (usize, &u8)| !piece[..at].contains(byte);
    piece.iter().enumerate().filter(|item| first_time(*item)).count() >= FEWEST_DIFFERENT
}
