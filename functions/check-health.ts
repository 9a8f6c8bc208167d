import { openTable } from '../lib/dynamodb/table/table.ts'
import { endpoint } from '../lib/http/endpoint.ts'
import type { HttpResponse } from '../lib/http/event.ts'

const table = openTable()

/** The service is healthy if the table responds: accepting a run needs nothing else. */
async function checkHealth(): Promise<HttpResponse> {
  await table.ping()
  return { status: 200, body: { success: true } }
}

export const handler = endpoint('check-health', checkHealth)
