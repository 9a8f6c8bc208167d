import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import type { RecordedRequest } from './recorded-request.ts'

/** The environment variable with the folder in which `npm run test:models` collects requests. */
export const MODEL_REQUESTS = 'MODEL_REQUESTS'

/** Appends a request to a file of this process, one JSON document per line, if `MODEL_REQUESTS` names a folder. */
export function keepRequest({ format, model, body }: RecordedRequest): void {
  const folder = process.env[MODEL_REQUESTS]
  if (!folder) return
  appendFileSync(join(folder, `${process.pid}.jsonl`), `${JSON.stringify({ format, model, body })}\n`)
}
