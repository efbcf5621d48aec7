//! An MCP server on the official Rust SDK, for the interop tests: `rmcp-server PORT`, on 127.0.0.1.
//!
//! The SDK's service as it comes, on hyper. One tool for each shape of answer.

use std::error::Error;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use rmcp::handler::server::router::tool::ToolRouter;
use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::{
    CallToolResult, ContentBlock, ProgressNotificationParam, RequestMetaObject, ServerCapabilities, ServerConfig,
};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{Peer, RoleServer, ServerHandler, tool, tool_handler, tool_router};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use tokio::net::TcpListener;

/// How long a connection without a request is kept.
const IDLE: Duration = Duration::from_secs(1);

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
struct Scan {
    steps: u32,
    step_ms: u64,
}

#[derive(Clone)]
struct Tools {
    tool_router: ToolRouter<Self>,
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
    async fn scan(
        &self,
        Parameters(Scan { steps, step_ms }): Parameters<Scan>,
        meta: RequestMetaObject,
        client: Peer<RoleServer>,
    ) -> String {
        for step in 1..=steps {
            tokio::time::sleep(Duration::from_millis(step_ms)).await;
            if let Some(token) = meta.get_progress_token() {
                let progress = ProgressNotificationParam::new(token, f64::from(step)).with_total(f64::from(steps));
                // Nobody may be listening any more.
                let _ = client.notify_progress(progress).await;
            }
        }
        format!("{steps} steps")
    }
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
    let make = || Ok(Tools { tool_router: Tools::tool_router() });
    let service: StreamableHttpService<Tools, LocalSessionManager> =
        StreamableHttpService::new(make, Default::default(), StreamableHttpServerConfig::default());
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
