import { Client, type jsonSchemaValidator, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { ToolError } from '../tool.ts'

const CLIENT = { name: 'agent-execution-service', version: '1' }
const MAX_PAGES = 20
const CLOSE_TIMEOUT_MS = 2_000

/** The server validates its results. Its schemas are not compiled: their patterns can take exponential time. */
const acceptAll: jsonSchemaValidator = {
  getValidator: () => (data) => ({ valid: true, data: data as never, errorMessage: undefined }),
}

/** A connection to an MCP server of either generation: revision 2026-07-28, or those that begin with `initialize`. */
export class McpConnection {
  private readonly url: URL
  private readonly fetch: typeof fetch
  private connected: { client: Client; transport: StreamableHTTPClientTransport } | undefined

  constructor(url: URL, fetchMcp: typeof fetch) {
    this.url = url
    this.fetch = fetchMcp
  }

  /** @throws an Error before `connect` */
  get client(): Client {
    if (!this.connected) throw new Error('The MCP client is not connected.')
    return this.connected.client
  }

  /**
   * Asks for the newest revision first. Servers of 2025 reject that request in many ways, such as with status 500 or
   * without a response. Any failure is therefore followed by `initialize`, whose error is thrown.
   * @throws an Error for `toToolError`
   */
  async connect(timeout: number): Promise<Client> {
    try {
      return await this.connectAs('auto', timeout)
    } catch (error) {
      if (findToolError(error)) throw error
      await this.close()
      return this.connectAs('legacy', timeout)
    }
  }

  private async connectAs(mode: 'auto' | 'legacy', timeout: number): Promise<Client> {
    const transport = new StreamableHTTPClientTransport(this.url, { fetch: this.fetch })
    const client = new Client(CLIENT, {
      versionNegotiation: { mode, probe: { timeoutMs: timeout / 2 } },
      listMaxPages: MAX_PAGES,
      jsonSchemaValidator: acceptAll,
    })
    this.connected = { client, transport }
    await client.connect(transport, { timeout })
    return client
  }

  /** Terminates the session, if the server has one. */
  async close(): Promise<void> {
    if (!this.connected) return
    const { client, transport } = this.connected
    const terminated = transport.terminateSession().catch(() => undefined)
    await withTimeout(CLOSE_TIMEOUT_MS, terminated, () => undefined)
    await client.close()
  }
}

/** The client wraps errors of `fetch` while it negotiates. */
function findToolError(error: unknown): ToolError | undefined {
  for (let each = error; each instanceof Error; each = each.cause) if (each instanceof ToolError) return each
  return undefined
}

export function toToolError(error: unknown): ToolError {
  const { message } = error as Error
  return (
    findToolError(error) ?? new ToolError(`MCP server error: ${message}`, { isTransient: true, cause: error })
  )
}

/** Resolves with the result of `work`, or of `onTimeout` if it takes longer. */
export async function withTimeout<T>(timeoutMs: number, work: Promise<T>, onTimeout: () => T): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, timeoutMs)
  })
  try {
    return await Promise.race([work, timeout.then(onTimeout)])
  } finally {
    clearTimeout(timer)
  }
}
