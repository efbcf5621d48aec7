//! What kind of result an answer of 2026-07-28 is, and what an interim one is answered with (`basic/patterns/mrtr`).

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::elicitation::elicited;
use super::failure::Failure;
use super::message;
use crate::options::Elicitation;

/// How often a request is repeated because its result is an interim one.
pub(super) const MOST_ROUNDS: u32 = 10;

#[derive(Debug, PartialEq)]
pub(super) enum Kind<'a> {
    Complete,
    InputRequired(Needs<'a>),
    /// Of no kind that verifi has said it knows: the answer is invalid.
    Unknown(String),
}

/// What an interim result wants: JSON text.
#[derive(Debug, PartialEq)]
pub(super) struct Needs<'a> {
    requests: Option<&'a str>,
    state: Option<&'a str>,
}

/// The kind of a result. Servers of before name none: then it is complete.
pub(super) fn kind(result: &str) -> Kind<'_> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Parts<'a> {
        #[serde(borrow)]
        result_type: Option<&'a RawValue>,
        #[serde(borrow)]
        input_requests: Option<&'a RawValue>,
        #[serde(borrow)]
        request_state: Option<&'a RawValue>,
    }
    let Ok(parts) = serde_json::from_str::<Parts>(result) else { return Kind::Complete };
    let Some(name) = parts.result_type else { return Kind::Complete };
    match serde_json::from_str::<String>(name.get()).as_deref() {
        Ok("complete") => Kind::Complete,
        Ok("input_required") => Kind::InputRequired(Needs {
            requests: parts.input_requests.map(RawValue::get),
            state: parts.request_state.map(RawValue::get),
        }),
        _ => Kind::Unknown(name.get().to_string()),
    }
}

/// The members that the request is repeated with. The state goes back as it came, byte for byte.
pub(super) fn answers(needs: &Needs, elicitation: Elicitation) -> Result<String, Failure> {
    let mut members = Vec::new();
    if let Some(requests) = needs.requests {
        members.push(format!(r#""inputResponses":{}"#, responses(requests, elicitation)?));
    }
    if let Some(state) = needs.state {
        members.push(format!(r#""requestState":{state}"#));
    }
    match members.is_empty() {
        true => Err(required("the server does not say which")),
        false => Ok(members.join(",")),
    }
}

/// The failure of a call that the server will not end without more.
pub(super) fn required(why: &str) -> Failure {
    Failure::InputRequired { reason: format!("input required: {why}") }
}

fn responses(requests: &str, elicitation: Elicitation) -> Result<String, Failure> {
    #[derive(Deserialize)]
    struct Request<'a> {
        method: String,
        #[serde(borrow)]
        params: Option<&'a RawValue>,
    }
    let requests: BTreeMap<String, Request> =
        serde_json::from_str(requests).map_err(|error| required(&format!("cannot be read: {error}")))?;
    let mut members = Vec::new();
    for (key, Request { method, params }) in requests {
        if method != "elicitation/create" {
            return Err(required(&format!("the server asks for {method}, which verifi cannot give")));
        }
        let answer = elicited(elicitation, params.map(RawValue::get));
        members.push(format!("{}:{answer}", message::quoted(&key)));
    }
    Ok(format!("{{{}}}", members.join(",")))
}

#[cfg(test)]
mod tests {
    use super::*;

    // Rule 3.3.
    #[test]
    fn a_result_is_of_a_kind() {
        for text in ["{}", "7", "null", r#"{"resultType":"complete"}"#, r#"{"resultType":null}"#] {
            assert_eq!(kind(text), Kind::Complete, "{text}");
        }
        assert_eq!(kind(r#"{"resultType":"task"}"#), Kind::Unknown(r#""task""#.into()));
        assert_eq!(kind(r#"{"resultType":7}"#), Kind::Unknown("7".into()));
        let needs = Needs { requests: None, state: Some(r#""\u0041b ""#) };
        assert_eq!(answers(&needs, Elicitation::Decline).ok().as_deref(), Some(r#""requestState":"\u0041b ""#));
        assert_eq!(kind(r#"{"resultType":"input_required","requestState":"\u0041b "}"#), Kind::InputRequired(needs));
    }

    // Rule 3.8.
    #[test]
    fn what_cannot_be_answered_is_named() {
        let needs = |requests| Needs { requests: Some(requests), state: None };
        let ask = r#"{"b":{"method":"elicitation/create"},"a \"":{"method":"elicitation/create","params":{}}}"#;
        assert_eq!(
            answers(&needs(ask), Elicitation::Decline).ok().as_deref(),
            Some(r#""inputResponses":{"a \"":{"action":"decline"},"b":{"action":"decline"}}"#)
        );
        for (requests, says) in [
            (r#"{"a":{"method":"sampling/createMessage","params":{}}}"#, "sampling/createMessage"),
            (r#"{"a":{"method":"roots/list"}}"#, "roots/list"),
            ("[]", "cannot be read"),
            (r#"{"a":7}"#, "cannot be read"),
        ] {
            let Err(Failure::InputRequired { reason }) = answers(&needs(requests), Elicitation::Defaults) else {
                panic!("{requests}");
            };
            assert!(reason.contains(says), "{reason}");
        }
    }
}
