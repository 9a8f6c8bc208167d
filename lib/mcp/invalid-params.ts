import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server'

/** JSON-RPC error -32602: an unknown tool, or parameters that a model cannot correct. */
export class InvalidParams extends ProtocolError {
  constructor(message: string) {
    super(ProtocolErrorCode.InvalidParams, message)
  }
}
