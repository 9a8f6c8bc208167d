import { describe, expect, it } from 'vitest'
import { UNLIMITED } from '../../../lib/core/access.ts'
import { type Batch, type LineResult, lineExecutionId, NO_TOTALS } from '../../../lib/core/batch.ts'
import { encodeCursor, type ListPosition } from '../../../lib/core/cursor.ts'
import type { ExecutionResult } from '../../../lib/core/execution.ts'
import { LIVE } from '../../../lib/core/trial.ts'
import { readResultPage, readResults } from '../../../lib/engine/batches/results.ts'
import { listItems } from '../../../lib/engine/trials/list-items.ts'
import { aBatch } from '../../support/batches/a-batch.ts'
import { anExecution } from '../../support/engine/executions.ts'

const LINES = 250

const BLOCKS = [0, 100, 101, 201].map((first) => ({ first, chunks: 1 }))

const batchOf = (overrides: Partial<Batch> = {}): Batch => {
  const { lines = LINES, blocks = BLOCKS, ...others } = overrides
  return { ...aBatch({ lines, lanes: 1, ...others }).batch, blocks }
}

/** Stores of a batch that record what is read. `outputOf`: of the lines that have an execution. */
function storesOf(batch: Batch, outputOf: (line: number) => object | null = (line) => ({ line })) {
  const read: string[] = []
  const asked: number[] = []
  const lineOf = new Map(
    Array.from({ length: batch.lines }, (_, line) => [lineExecutionId(batch, line), line]),
  )
  return {
    read,
    /** Executions that each request of the store reads at once. */
    asked,
    batches: {
      async readBlock({ block }: { block: number }) {
        read.push(`block ${block}`)
        const first = batch.blocks[block]?.first ?? 0
        const end = batch.blocks[block + 1]?.first ?? batch.lines
        return Array.from({ length: end - first }, (_, index) => ({
          customId: `${first + index}`,
          input: {},
        }))
      },
    },
    executions: {
      async *readResults({ ids }: { ids: string[] }) {
        asked.push(ids.length)
        for (const id of ids) {
          const line = lineOf.get(id) ?? Number.NaN
          read.push(`execution ${line}`)
          const output = outputOf(line)
          yield output && ({ id, status: 'SUCCESS', output, error: null } as ExecutionResult)
        }
      },
    },
  }
}

async function collect(results: AsyncIterable<LineResult>): Promise<LineResult[]> {
  const all: LineResult[] = []
  for await (const result of results) all.push(result)
  return all
}

describe('readResults', () => {
  it('yields a result for each line, in order, also from the middle of a block', async () => {
    const batch = batchOf()
    for (const from of [0, 1, 99, 100, 101, 150, 249]) {
      const results = await collect(readResults(storesOf(batch), batch, from))
      const expected = Array.from({ length: LINES - from }, (_, index) => from + index)
      expect(results.map(({ customId, output }) => [customId, output])).toEqual(
        expected.map((line) => [`${line}`, { line }]),
      )
    }
  })

  it('reads nothing before it is asked for, and nothing after its reader has gone', async () => {
    const batch = batchOf()
    const stores = storesOf(batch)
    const results = readResults(stores, batch)
    expect(stores.read).toEqual([])
    await results.next()
    expect(stores.read).toEqual(['block 0', 'execution 0'])
    await results.next()
    await results.return(undefined)
    expect(stores.read).toEqual(['block 0', 'execution 0', 'execution 1'])
  })

  const stopped = { code: 'BudgetExceeded', message: 'It is.' }
  it.each<[string, Partial<Batch>, string, string | null]>([
    ['has not started in an open batch', {}, 'IN_PROGRESS', null],
    ['is not started any more', { stopped }, 'ERROR', 'BudgetExceeded'],
    ['was not started', { stopped, status: 'ENDED', totals: NO_TOTALS }, 'ERROR', 'BudgetExceeded'],
    ['was deleted', { status: 'ENDED', totals: NO_TOTALS }, 'ERROR', 'ExecutionNotFound'],
  ])('says of a line without an execution that it %s', async (_, state, status, code) => {
    const batch = batchOf(state)
    const stores = storesOf(batch, () => null)
    const { value } = await readResults(stores, batch).next()
    expect(value).toMatchObject({ customId: '0', executionId: null, status, output: null })
    expect((value as LineResult).error?.code ?? null).toBe(code)
  })
})

describe('readResultPage', () => {
  it('asks for no execution that is not on it', async () => {
    const batch = batchOf()
    const stores = storesOf(batch)
    const { next } = await readResultPage(stores, batch, { limit: 7 })
    await readResultPage(stores, batch, { limit: 120, cursor: encodeCursor(next as ListPosition) })
    expect(stores.asked).toEqual([7, 93, 1, 26])
  })

  it('ends a page with the last result that fits a response, and begins the next with the following one', async () => {
    const batch = batchOf()
    const stores = storesOf(batch, (line) => ({ text: 'x'.repeat(line === 3 ? 4_000_000 : 1_000_000) }))
    const sizes = []
    for (let cursor: string | undefined; ; ) {
      const { items, next } = await readResultPage(stores, batch, { cursor, limit: 3 })
      sizes.push(items.length)
      if (sizes.length === 4) expect(stores.read.filter((each) => each.startsWith('block'))).toHaveLength(4)
      if (!next || sizes.length === 4) break
      cursor = Buffer.from(`1${next.order}`).toString('base64url')
    }
    expect(sizes).toEqual([2, 1, 1, 2])
  })

  it('is empty beyond the last line', async () => {
    const batch = batchOf()
    const cursor = Buffer.from(`1${LINES}`).toString('base64url')
    expect(await readResultPage(storesOf(batch), batch, { cursor })).toEqual({ items: [], next: null })
  })
})

describe('listItems', () => {
  it('looks through the blocks of a trial for a verdict until the page is full', async () => {
    const trial = { ...LIVE, from: null, to: null, tenantId: null, feedback: null }
    const batch = batchOf({ trial })
    const changed = new Set([49, 99, 149, 199, 249].map((line) => lineExecutionId(batch, line)))
    const stores = {
      batches: { ...storesOf(batch).batches, get: async () => batch },
      executions: {
        async *readSummaries({ ids }: { ids: string[] }) {
          for (const id of ids) {
            const verdict = changed.has(id) ? ('CHANGED' as const) : ('SAME' as const)
            const judgement = { verdict, differences: [] }
            yield { ...anExecution(), id, status: 'SUCCESS' as const, judgement }
          }
        },
      },
    }
    const access = { ...UNLIMITED, organizationId: batch.organizationId, tokenId: 't' }
    const read = async (limit: number, cursor?: string) => {
      const query = { verdict: 'CHANGED' as const, limit, ...(cursor && { cursor }) }
      const { items, next } = await listItems(stores, { access, batchId: batch.id, isTrial: true, query })
      return { found: items.map(({ originalExecutionId }) => originalExecutionId), next }
    }
    expect(await read(2)).toEqual({ found: ['49', '99'], next: { order: '100' } })
    const rest = encodeCursor({ order: '100' })
    expect(await read(100, rest)).toEqual({ found: ['149', '199', '249'], next: null })
  })
})
