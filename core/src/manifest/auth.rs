//! What a manifest says of the tokens that a server wants: where they come from, and who asks for them.

use http::header::AUTHORIZATION;
use zeroize::Zeroizing;

use super::expand::{CONTROL_CHARACTER, Expanded, expand};
use super::{Endpoint, Environment, SecretValue};
use crate::encode::{base64_into, form_into};
use crate::error::Error;
use crate::member::{Member, Object};

/// How a server's tokens are had: OAuth 2.0's client credentials (RFC 6749, section 4.4).
#[derive(Clone, Debug)]
pub(crate) struct AuthSpec {
    pub(crate) token_url: Endpoint,
    /// The value of the `authorization` header for `token_url`, and for nothing else.
    pub(crate) credentials: SecretValue,
    pub(crate) scope: Option<String>,
}

impl AuthSpec {
    /// The values that nobody but the token server may see.
    pub(super) fn secrets(&self) -> Vec<Zeroizing<String>> {
        self.credentials.secrets(&AUTHORIZATION)
    }
}

pub(super) fn read(auth: &Member<'_>, environment: Environment<'_>) -> Result<AuthSpec, Error> {
    let object = auth.object()?;
    let (member, url) = required(&object, "tokenUrl", environment)?;
    let token_url = Endpoint::exact(&url.text).map_err(|fault| member.error(fault))?;
    let (_, id) = required(&object, "clientId", environment)?;
    let (_, secret) = required(&object, "clientSecret", environment)?;
    let scope = object.get("scope").map(|scope| value(&scope, environment)).transpose()?;
    let scope = scope.map(|scope| scope.text.to_string());
    Ok(AuthSpec { token_url, credentials: credentials(&id.text, secret), scope })
}

fn required<'a>(
    object: &Object<'a>,
    name: &str,
    environment: Environment<'_>,
) -> Result<(Member<'a>, Expanded), Error> {
    let Some(member) = object.get(name) else { return Err(object.error(name, "is missing")) };
    let value = value(&member, environment)?;
    Ok((member, value))
}

fn value(member: &Member<'_>, environment: Environment<'_>) -> Result<Expanded, Error> {
    let value = expand(member, environment)?;
    if value.text.is_empty() {
        return Err(member.error("must not be empty"));
    }
    if value.text.chars().any(char::is_control) {
        return Err(member.error(CONTROL_CHARACTER));
    }
    Ok(value)
}

/// Client authentication by HTTP Basic (RFC 6749, section 2.3.1): both are form-encoded before they are joined.
fn credentials(id: &str, secret: Expanded) -> SecretValue {
    // With room for all of it the text never moves and leaves no copy behind.
    let mut pair = Zeroizing::new(String::with_capacity((id.len() + secret.text.len()) * 3 + 1));
    form_into(&mut pair, id);
    pair.push(':');
    form_into(&mut pair, &secret.text);
    let mut value = Zeroizing::new(String::with_capacity(6 + pair.len().div_ceil(3) * 4));
    value.push_str("Basic ");
    base64_into(&mut value, pair.as_bytes());
    let Expanded { text, mut variables } = secret;
    variables.push(text);
    SecretValue::new(&value, variables)
}
