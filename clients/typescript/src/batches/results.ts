import { AgentError } from '../errors.ts'
import { type Call, sleep } from '../http/call.ts'
import { readText } from '../http/read-text.ts'
import {
  backoffMs,
  batchPath,
  type Connection,
  nextQuery,
  request,
  unexpectedResponse,
} from '../http/request.ts'
import type { Batch, BatchResult } from '../records.ts'

/**
 * The results of a batch in the order of its lines, each once, however often the connection breaks.
 * @throws AgentError, or the reason of the call's signal
 */
export async function* readResults<Output>(
  connection: Connection,
  call: Call,
  { id, lines }: Pick<Batch, 'id' | 'lines'>,
): AsyncGenerator<BatchResult<Output>, void, undefined> {
  const { maxRetries, parse } = connection
  let query = ''
  let count = 0
  /** Of the pages before this one. */
  let countBefore = 0
  for (let failures = 0; failures <= maxRetries; failures++) {
    if (failures > 0) await sleep(backoffMs(failures), call.signal)
    let next: string | undefined
    const spec = { path: `${batchPath(id)}/results${query}` }
    const page = await request(connection, call, spec, async (response) => {
      next = nextQuery(response.headers)
      // Of the last page, the number of its lines tells whether it is complete.
      return next ? new Response(await response.text()) : response
    })
    let position = countBefore
    let isCut = false
    for await (const { text, isComplete } of readLines(page, call)) {
      const result = tryParse(text, parse)
      isCut = result === undefined
      if (isCut && isComplete)
        throw unexpectedResponse(200, `Line ${position + 1} of the results is not JSON.`)
      if (isCut || ++position <= count) continue
      count = position
      failures = 0
      yield result as BatchResult<Output>
      if (count === lines) return
    }
    if (next && !isCut) {
      query = next
      countBefore = position
      failures = -1
    }
  }
  const detail = `The results of the batch ${id} broke ${maxRetries + 1} times in a row, after ${count} of ${lines}.`
  throw new AgentError({ code: 'ConnectionFailed', detail })
}

/** `isComplete`: its end has arrived. */
async function* readLines(response: Response, call: Call) {
  let text = ''
  for await (const part of readText(response, call)) {
    const [first = '', ...others] = part.split('\n')
    text += first
    for (const other of others) {
      if (text) yield { text, isComplete: true }
      text = other
    }
  }
  if (text) yield { text, isComplete: false }
}

function tryParse(text: string, parse: Connection['parse']): unknown {
  try {
    return parse(text)
  } catch {
    return undefined
  }
}
