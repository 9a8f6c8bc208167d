import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import type { NodeHttpHandler } from '@smithy/node-http-handler'
import { handleInProcess, toSocketEndpoint } from '../../lib/aws-sdk.ts'
import { createTemporaryFolder, SOCKET_FILE } from '../temporary-folders.ts'
import type { DynoxideProcess } from './dynoxide-process.ts'

export type Listening = { endpoint: string; close: () => Promise<void> }

/** Listens on a socket that only this user can open. Not in the data folder, whose path can be too long. */
export async function listenPrivately(server: Server): Promise<Listening> {
  const folder = process.platform === 'win32' ? null : await createTemporaryFolder('aes')
  const path = folder ? join(folder, SOCKET_FILE) : `\\\\.\\pipe\\aes-${randomUUID()}`
  const remove = async () => {
    if (folder) await rm(folder, { recursive: true, force: true })
  }
  try {
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(path, resolve))
  } catch (error) {
    await remove()
    throw error
  }
  return { endpoint: toSocketEndpoint(path), close: () => closeNow(server).then(remove) }
}

export function closeNow(server: Server): Promise<void> {
  server.closeAllConnections()
  return new Promise((resolve) => server.close(() => resolve()))
}

/** Serves a database to other processes of this user on a socket, and to the SDK's clients of this one without it. */
export async function serveDynamoDB(call: DynoxideProcess['call']): Promise<Listening> {
  const answer = (headers: Headers, body: string) =>
    call(String(headers['x-amz-target']).replace(/^.*\./, ''), JSON.parse(body) as object)

  const respond = async (request: IncomingMessage, response: ServerResponse) => {
    const { status, body } = await answer(request.headers, String(await buffer(request)))
    response.writeHead(status, { 'Content-Type': CONTENT_TYPE, 'Content-Length': Buffer.byteLength(body) })
    response.end(body)
  }
  const { createServer } = process.getBuiltinModule('node:http')
  const server = createServer((request, response) => {
    response.on('error', () => undefined)
    respond(request, response).catch(() => response.destroy())
  })
  // As long as clients keep connections that they do not use.
  server.keepAliveTimeout = 65_000
  const listening = await listenPrivately(server)
  handleInProcess(listening.endpoint, async ({ headers, body }) => {
    const { status, body: text } = await withinTime(answer(headers, decoder.decode(body as Uint8Array)))
    const response = {
      statusCode: status,
      headers: { 'content-type': CONTENT_TYPE },
      body: Buffer.from(text),
    }
    return { response } as unknown as Awaited<ReturnType<NodeHttpHandler['handle']>>
  })
  return listening
}

/** Longer than any operation takes. */
const TIMEOUT_MS = 5_000

/** @throws an Error with the name of the SDK's own after the time */
async function withinTime<T>(response: Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const toError = () => Object.assign(new Error('The database does not respond.'), { name: 'TimeoutError' })
  const timer = setTimeout(() => reject(toError()), TIMEOUT_MS)
  return Promise.race([response, late]).finally(() => clearTimeout(timer))
}

type Headers = Record<string, string | string[] | undefined>

const CONTENT_TYPE = 'application/x-amz-json-1.0'
/** `Buffer.from` would call methods of the SDK's bodies that print a deprecation. */
export const decoder = new TextDecoder()
