import type { Call } from '../http/call.ts'
import { batchPath, type Connection, nextQuery, parseBody, request } from '../http/request.ts'
import type { Batch } from '../records.ts'

/** The most of a page. A stream of all of them would have to begin again when it breaks. */
const PAGE_SIZE = 1_000

/**
 * The results of a batch in the order of its lines, each once. A page that breaks is read again.
 * @throws AgentError, or the reason of the call's signal
 */
export async function* readResults<Result>(
  connection: Connection,
  call: Call,
  { id, lines }: Pick<Batch, 'id' | 'lines'>,
): AsyncGenerator<Result, void, undefined> {
  let query: string | undefined = `?limit=${PAGE_SIZE}`
  let count = 0
  while (query) {
    let next: string | undefined
    const spec = { path: `${batchPath(id)}/results${query}` }
    const page = await request(connection, call, spec, async (response) => {
      next = nextQuery(response.headers)
      const texts = (await response.text()).split('\n').filter(Boolean)
      const results = texts.map((text) => parseBody(connection, response.status, text) as Result)
      // Where nothing else tells that the last page is incomplete.
      if (!next && count + results.length < lines) throw new Error('Results are missing.')
      return results
    })
    count += page.length
    yield* page
    query = next
  }
}
