import { afterAll, beforeAll, inject, vi } from 'vitest'
import { LOCAL_TABLE } from '../../../local/emulators/provision.ts'
import type { Handlers } from '../../../local/gateway/functions.ts'
import { localFunctions } from '../../../local/gateway/functions.ts'

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
