import { mkdtempSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { APIGatewayProxyEvent } from 'aws-lambda'
import { buildConsole } from '../../../lib/console-server/build-console.ts'
import { type OperationName, operations } from '../../../lib/contract/routes.ts'
import { RouteNotFound } from '../../../lib/core/request-errors.ts'
import { CONSOLE_FOLDER } from '../../../lib/environment.ts'
import { type HttpResponse, toProxyResult } from '../../../lib/http/event.ts'
import { toProblemResult } from '../../../lib/http/problem-details.ts'
import { type Handlers, localFunctions } from '../../../local/gateway/functions.ts'
import { createGateway } from '../../../local/gateway/gateway.ts'
import { closeServer, listen, urlOf } from '../../../local/gateway/listen.ts'
import { startServer } from '../../support/service/start-server.ts'

/** Responses of the API by operation. An operation without one is not found. */
export type Answers = Partial<Record<OperationName, (event: APIGatewayProxyEvent) => HttpResponse>>

export type Stub = {
  url: string
  /** Nothing listens any more, until the returned function is called. */
  interrupt: () => Promise<() => Promise<void>>
  stop: () => Promise<void>
}

const HOST = '127.0.0.1'

/** Any token is valid. */
const ACCEPT = async () => ({
  principalId: 'stub',
  policyDocument: {
    Version: '2012-10-17',
    Statement: [{ Effect: 'Allow' as const, Action: '*', Resource: '*' }],
  },
})

/** Serves the real files of the console, through the real gateway, beside an API that says what the test wants. */
export async function startStub(answers: Answers): Promise<Stub> {
  const folder = mkdtempSync(join(tmpdir(), 'aes-console-'))
  await buildConsole(folder, { quality: 5 })
  Object.assign(process.env, { [CONSOLE_FOLDER]: folder, RESPONSE_STREAMING: 'local' })
  const stubbed = (Object.keys(operations) as OperationName[]).map((name) => [name, toHandler(answers[name])])
  const gateway = createGateway({
    handlers: {
      ...Object.fromEntries(stubbed),
      'serve-console': localFunctions().handlers['serve-console'],
    } as Handlers,
    authorizer: ACCEPT,
    corsOrigins: [],
  })
  await listen(gateway, HOST, 0)
  const url = urlOf(gateway, HOST)
  return {
    url,
    interrupt: async () => {
      await closeServer(gateway)
      return () => listen(gateway, HOST, Number(new URL(url).port))
    },
    stop: async () => {
      await closeServer(gateway)
      rmSync(folder, { recursive: true })
    },
  }
}

const toHandler = (answer: Answers[OperationName]) => async (event: APIGatewayProxyEvent) =>
  answer ? toProxyResult(answer(event)) : toProblemResult(new RouteNotFound(), 'stub')

/** Serves what is at `target` under a base path, as a stage or a custom domain does. Other paths are not found. */
export async function startProxy(
  target: string,
  basePath: string,
): Promise<{ url: string; stop: () => Promise<void> }> {
  const server = await startServer((incoming, response) => {
    const { method = 'GET', url = '', headers } = incoming
    if (!url.startsWith(`${basePath}/`)) return void response.writeHead(404).end()
    const forwarded = request(`${target}${url.slice(basePath.length)}`, { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    })
    forwarded.on('error', () => response.destroy())
    incoming.pipe(forwarded)
  })
  return { url: `${server.url}${basePath}`, stop: server.stop }
}
