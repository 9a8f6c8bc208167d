import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server'

/** JSON-RPC error -32602: an unknown tool, or parameters that a model cannot correct. */
export class InvalidParams extends ProtocolError {
  constructor(message: string) {
    super(ProtocolErrorCode.InvalidParams, message)
  }
}

/** The same for a tool that does not exist and for one that the token may not use. */
export class UnknownTool extends InvalidParams {
  /** @param similar a tool that the token may use */
  constructor(name: string, similar?: string) {
    super(`Unknown tool: ${name.slice(0, 128)}${similar === undefined ? '' : `. Did you mean ${similar}?`}`)
  }
}
