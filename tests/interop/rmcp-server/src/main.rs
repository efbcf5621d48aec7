//! An MCP server on the official Rust SDK, for the interop tests: `rmcp-server PORT`, on 127.0.0.1.
//!
//! The SDK's service as it comes, on hyper. One tool for each shape of answer.

use std::collections::HashSet;
use std::error::Error;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use rmcp::handler::server::router::tool::ToolRouter;
use rmcp::handler::server::tool::{InputResponses, RequestState};
use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::{
    CallToolResponse, CallToolResult, ContentBlock, ElicitRequest, ElicitRequestParams, InputRequest,
    InputRequiredResult, ProgressNotificationParam, ProtocolVersion, RequestMetaObject, ServerCapabilities,
    ServerConfig, ServerRequest,
};
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, RoleServer, ServerHandler, tool, tool_handler, tool_router};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::watch;

/// How long a connection without a request is kept.
const IDLE: Duration = Duration::from_secs(1);

/// What a client must give back as it is.
const STATE: &str = "{\"round\": 1} \u{1f511}\n\t.";

#[derive(Deserialize, JsonSchema)]
struct Echo {
    message: String,
}

#[derive(Deserialize, JsonSchema)]
struct Add {
    a: i64,
    b: i64,
}

#[derive(Deserialize, JsonSchema)]
struct Locate {
    #[schemars(extend("x-mcp-header" = "Region"))]
    region: String,
    #[schemars(extend("x-mcp-header" = "Depth"))]
    depth: i64,
}

#[derive(Deserialize, JsonSchema)]
struct Scan {
    steps: u32,
    step_ms: u64,
    label: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
struct Stopped {
    label: String,
}

#[derive(Clone)]
struct Tools {
    tool_router: ToolRouter<Self>,
    /// The labels of the scans that were cancelled.
    stopped: watch::Sender<HashSet<String>>,
}

#[tool_router]
impl Tools {
    #[tool]
    fn echo(&self, Parameters(Echo { message }): Parameters<Echo>) -> String {
        message
    }

    #[tool]
    fn add(&self, Parameters(Add { a, b }): Parameters<Add>) -> String {
        (a + b).to_string()
    }

    #[tool]
    fn picture(&self) -> CallToolResult {
        CallToolResult::success(vec![ContentBlock::image("iVBORw0KGgo=", "image/png")])
    }

    #[tool]
    fn report(&self) -> CallToolResult {
        let resource = ContentBlock::embedded_text("file:///report.txt", "port 443 open");
        CallToolResult::success(vec![ContentBlock::text("see"), resource])
    }

    #[tool]
    fn ports(&self) -> CallToolResult {
        CallToolResult::structured(json!({"open": [22, 443]}))
    }

    #[tool]
    fn locate(&self, Parameters(Locate { region, depth }): Parameters<Locate>) -> String {
        format!("{depth} {region}")
    }

    #[tool]
    async fn scan(
        &self,
        Parameters(Scan { steps, step_ms, label }): Parameters<Scan>,
        meta: RequestMetaObject,
        context: RequestContext<RoleServer>,
    ) -> String {
        for step in 1..=steps {
            tokio::select! {
                () = tokio::time::sleep(Duration::from_millis(step_ms)) => {}
                () = context.ct.cancelled() => {
                    self.stopped.send_modify(|stopped| stopped.extend(label));
                    return "cancelled".into();
                }
            }
            if let Some(token) = meta.get_progress_token() {
                let progress = ProgressNotificationParam::new(token, f64::from(step)).with_total(f64::from(steps));
                // Nobody may be listening any more.
                let _ = context.peer.notify_progress(progress).await;
            }
        }
        format!("{steps} steps")
    }

    /// Waits until the scan with the label was cancelled.
    #[tool]
    async fn stopped(&self, Parameters(Stopped { label }): Parameters<Stopped>) -> String {
        // The sender is ours: it is there as long as we are.
        let _ = self.stopped.subscribe().wait_for(|labels| labels.contains(&label)).await;
        label
    }

    /// Asks for a name, in the way of the client's era.
    #[tool]
    async fn confirm(
        &self,
        RequestState(state): RequestState,
        InputResponses(answers): InputResponses,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let internal = |error: &dyn Error| ErrorData::internal_error(error.to_string(), None);
        let params = ElicitRequestParams::FormElicitationParams {
            meta: None,
            message: "Who?".into(),
            requested_schema: serde_json::from_value(json!({
                "type": "object", "required": ["name"],
                "properties": {"name": {"type": "string", "default": "verifi"}},
            }))
            .map_err(|error| internal(&error))?,
        };
        if context.protocol_version() < Some(ProtocolVersion::V_2026_07_28) {
            let asked = ServerRequest::ElicitRequest(ElicitRequest::new(params));
            let answer = context.peer.send_request(asked).await.map_err(|error| internal(&error))?;
            return Ok(told(&json!(answer)).into());
        }
        match (answers.as_ref().and_then(|answers| answers.get("name")), state.as_deref()) {
            (Some(answer), Some(STATE)) => Ok(told(answer).into()),
            (None, None) => {
                let asked = [("name".into(), InputRequest::Elicitation(ElicitRequest::new(params)))];
                Ok(InputRequiredResult::new(Some(asked.into()), Some(STATE.into())).into())
            }
            _ => Err(ErrorData::invalid_params("the answers and the state do not fit", None)),
        }
    }
}

fn told(answer: &Value) -> CallToolResult {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let text = format!("{} {}", text(&answer["action"]), text(&answer["content"]["name"]));
    CallToolResult::success(vec![ContentBlock::text(text.trim_end())])
}

#[tool_handler(router = self.tool_router)]
impl ServerHandler for Tools {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let port = std::env::args().nth(1).ok_or("rmcp-server PORT")?.parse()?;
    let tools = Tools { tool_router: Tools::tool_router(), stopped: watch::Sender::default() };
    let service: StreamableHttpService<Tools, LocalSessionManager> = StreamableHttpService::new(
        move || Ok(tools.clone()),
        Default::default(),
        StreamableHttpServerConfig::default(),
    );
    let service = TowerToHyperService::new(service);
    let listener = TcpListener::bind(("127.0.0.1", port)).await?;
    loop {
        let (socket, _) = listener.accept().await?;
        socket.set_nodelay(true)?;
        let mut server = http1::Builder::new();
        server.timer(TokioTimer::new()).header_read_timeout(IDLE);
        // A client that goes away ends its connection with an error, which is nobody's concern.
        tokio::spawn(server.serve_connection(TokioIo::new(socket), service.clone()));
    }
}
