//! A scriptable MCP server for the tests of every face.
