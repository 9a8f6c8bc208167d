import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda'
import { afterAll, beforeAll, inject, vi } from 'vitest'
import type { OperationName } from '../../../lib/contract/routes.ts'
import { LOCAL_TABLE } from '../../../local/emulators/provision.ts'
import type { Handlers } from '../../../local/gateway/functions.ts'
import { localFunctions } from '../../../local/gateway/functions.ts'
import { type Call, toGatewayEvent } from '../../fixtures/captured-events.ts'

/** For a test file: the handlers of the endpoints in this process, on the shared table and without a queue. */
export function localHandlers(): Handlers {
  beforeAll(() => {
    const environment = {
      TABLE_NAME: LOCAL_TABLE,
      DYNAMODB_ENDPOINT: inject('dynamodb'),
      QUEUE_URL: 'http://127.0.0.1:1/queue',
      DELIVERY_QUEUE_URL: 'http://127.0.0.1:1/delivery-queue',
      SQS_ENDPOINT: 'http://127.0.0.1:1',
      POWERTOOLS_LOG_LEVEL: 'SILENT',
    }
    for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value)
  })
  afterAll(() => void vi.unstubAllEnvs())
  // Each handler loads its function when it is first called.
  return localFunctions().handlers
}

/** For a test file: calls operations in this process, with its settings, as API Gateway does. */
export function localCall() {
  const handlers = localHandlers()
  return async (name: OperationName, options: Call, identity: object = {}) => {
    const event = toGatewayEvent(name, options)
    Object.assign(event.requestContext.identity, identity)
    const handler = handlers[name] as (event: APIGatewayProxyEvent, context: object) => Promise<unknown>
    const { statusCode: status, headers, body: text } = (await handler(event, {})) as APIGatewayProxyResult
    const json: ReturnType<typeof JSON.parse> = isJson(headers) && text ? JSON.parse(text) : undefined
    return { status, headers, text, json }
  }
}

const isJson = (headers: APIGatewayProxyResult['headers']) => /json$/.test(String(headers?.['Content-Type']))
