//! The answer to an elicitation: nobody is there to ask (rule 3.8).

use serde_json::{Map, Value, json};

use crate::options::Elicitation;

/// What verifi says that it can do: the capabilities of a client, as JSON text.
pub(super) fn capabilities(elicitation: Elicitation) -> &'static str {
    match elicitation {
        Elicitation::Decline => "{}",
        Elicitation::Defaults => r#"{"elicitation":{}}"#,
    }
}

/// The answer to `elicitation/create` with these `params`. With `defaults`, the schema's own, when they are all it needs.
pub(super) fn elicited(elicitation: Elicitation, params: Option<&str>) -> Value {
    let declined = json!({"action": "decline"});
    let params: Value = params.and_then(|params| serde_json::from_str(params).ok()).unwrap_or_default();
    let Some(properties) = params["requestedSchema"]["properties"].as_object() else { return declined };
    if elicitation == Elicitation::Decline {
        return declined;
    }
    let content: Map<String, Value> =
        properties.iter().filter_map(|(name, schema)| Some((name.clone(), schema.get("default")?.clone()))).collect();
    let required = params["requestedSchema"]["required"].as_array();
    let is_whole = required
        .is_none_or(|names| names.iter().all(|name| name.as_str().is_some_and(|name| content.contains_key(name))));
    if is_whole { json!({"action": "accept", "content": content}) } else { declined }
}
