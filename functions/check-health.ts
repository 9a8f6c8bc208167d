import { openTable } from '../lib/dynamodb/table.ts'
import { endpoint } from '../lib/http/endpoint.ts'
import type { HttpResponse } from '../lib/http/event.ts'

const table = openTable()

/** Works when the table answers: nothing else is needed to accept a run. */
async function checkHealth(): Promise<HttpResponse> {
  await table.ping()
  return { status: 200, body: { success: true } }
}

export const handler = endpoint('check-health', checkHealth)
