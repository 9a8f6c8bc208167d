import { describe, expect, it } from 'vitest'
import { UNLIMITED } from '../../../lib/core/access.ts'
import { type Batch, type LineResult, lineExecutionId, NO_TOTALS } from '../../../lib/core/batch.ts'
import { encodeCursor, type ListPosition } from '../../../lib/core/cursor.ts'
import { ServiceError } from '../../../lib/core/errors.ts'
import type { ExecutionResult } from '../../../lib/core/execution.ts'
import type { Json } from '../../../lib/core/json/json.ts'
import { LIVE } from '../../../lib/core/trial.ts'
import { type CheckInput, checkLines } from '../../../lib/engine/batches/check-lines.ts'
import { readResultPage, readResults } from '../../../lib/engine/batches/results.ts'
import { listItems } from '../../../lib/engine/trials/list-items.ts'
import { aBatch } from '../../support/batches/a-batch.ts'
import { anExecution } from '../../support/engine/executions.ts'

const check = (values: Json[], checkInput?: CheckInput) =>
  checkLines(
    values.map((value, index) => ({ line: index + 1, value })),
    checkInput,
  )
const refused = async (values: Json[], checkInput?: CheckInput): Promise<ServiceError> => {
  const error = await check(values, checkInput).catch((caught: unknown) => caught)
  if (!(error instanceof ServiceError)) throw new Error('The lines were accepted.')
  return error
}
const messages = async (...values: Json[]) => (await refused(values)).errors?.map(({ message }) => message)

const MUST = 'must be a string of 1 to 100 characters without control characters'

describe('checkLines', () => {
  it('returns the inputs of valid lines, in order', async () => {
    const longest = '💡'.repeat(100)
    const lines = [
      { customId: longest, input: {} },
      { input: { a: [1] }, customId: 'b' },
    ]
    expect(await check(lines)).toEqual(lines)
  })

  it.each<[Json, string]>([
    [1, 'Line 1: The line must be an object {"customId": …, "input": …}, not a number.'],
    [null, 'Line 1: The line must be an object {"customId": …, "input": …}, not null.'],
    [[], 'Line 1: The line must be an object {"customId": …, "input": …}, not an array.'],
    [{}, `Line 1: /customId ${MUST}. /input must be a JSON object, not absent.`],
    [{ customId: 7, input: {} }, `Line 1: /customId ${MUST}, not a number.`],
    [{ customId: '', input: {} }, `Line 1: /customId ${MUST}.`],
    [{ customId: 'x'.repeat(101), input: {} }, `Line 1: /customId ${MUST}.`],
    [{ customId: 'a\nb', input: {} }, `Line 1: /customId ${MUST}.`],
    [{ customId: '\ud800', input: {} }, `Line 1: /customId ${MUST}.`],
    [{ customId: 'a', input: 'text' }, 'Line 1: /input must be a JSON object, not a string.'],
    [
      { customId: 'a', input: {}, 'm/e': 1 },
      'Line 1: /m~1e is not a member of a line: allowed are customId, input.',
    ],
    [
      { customId: 'a', input: {}, a: 1, b: 1, c: 1, d: 1, e: 1 },
      'Line 1: /a is not a member of a line: allowed are customId, input. /b is not a member of a line: allowed are customId, input. /c is not a member of a line: allowed are customId, input. And 2 more.',
    ],
  ])('refuses the line %j', async (value, message) => {
    expect(await messages(value)).toEqual([message])
  })

  it('names the line that had a customId first', async () => {
    const line = { customId: 'a', input: {} }
    const error = await refused([line, { ...line, customId: 'b' }, line])
    expect(error.message).toBe('1 of 3 lines is invalid. No line was started.')
    const message = 'Line 3: /customId repeats that of line 1: each must be unique.'
    expect(error.errors).toEqual([{ line: 3, path: '/customId', message }])
  })

  it('lists the violations of a schema by their path in the line', async () => {
    const violation = { path: '/text', message: '/text is required.' }
    const ofWhole = { path: '', message: 'The value is required.' }
    const { errors } = await refused([{ customId: 'a', input: {} }], async () => [violation, ofWhole])
    expect(errors).toEqual([
      { line: 1, path: '/input/text', message: 'Line 1: /input/text is required. The value is required.' },
    ])
  })

  it('lists the first hundred lines, and checks no more', async () => {
    let checks = 0
    const values = Array.from({ length: 1_000 }, (_, index) => ({ customId: `${index}`, input: {} }))
    const error = await refused(values, async () => {
      checks++
      return [{ path: '/a', message: '/a is required.' }]
    })
    expect(error.errors?.map(({ line }) => line)).toEqual(numbersFrom(1, 101))
    expect(error.message).toBe(
      'At least 100 of 1000 lines are invalid; the first ones are listed. No line was started.',
    )
    expect(checks).toBe(100)
    const all = await refused(Array.from({ length: 100 }, () => 1))
    expect(all.message).toBe('100 of 100 lines are invalid. No line was started.')
  })

  it('refuses no lines at all, and too many', async () => {
    const none = await refused([])
    expect([none.code, none.message]).toEqual([
      'InputSchemaMismatch',
      'The batch has no lines. Send 1 to 10000 of them, each {"customId": …, "input": …}.',
    ])
    const many = await refused(Array.from({ length: 10_001 }, () => 1))
    expect([many.code, many.message]).toEqual([
      'PayloadTooLarge',
      'The batch has 10001 lines; at most 10000 are allowed. Split it into several batches.',
    ])
  })
})

const LINES = 250

const numbersFrom = (first: number, end: number) =>
  Array.from({ length: end - first }, (_, index) => first + index)

const BLOCKS = [0, 100, 101, 201].map((first) => ({ first, chunks: 1 }))

const batchOf = (overrides: Partial<Batch> = {}): Batch => {
  const { lines = LINES, blocks = BLOCKS, ...others } = overrides
  return { ...aBatch({ lines, lanes: 1, ...others }).batch, blocks }
}

/** Stores of a batch that record what is read. `outputOf`: of the lines that have an execution. */
function storesOf(batch: Batch, outputOf: (line: number) => object | null = (line) => ({ line })) {
  const read: string[] = []
  const asked: number[] = []
  const lineOf = new Map(numbersFrom(0, batch.lines).map((line) => [lineExecutionId(batch, line), line]))
  return {
    read,
    /** Executions that each request of the store reads at once. */
    asked,
    batches: {
      async readBlock({ block }: { block: number }) {
        read.push(`block ${block}`)
        const first = batch.blocks[block]?.first ?? 0
        const end = batch.blocks[block + 1]?.first ?? batch.lines
        return numbersFrom(first, end).map((line) => ({ customId: `${line}`, input: {} }))
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
      expect(results.map(({ customId, output }) => [customId, output])).toEqual(
        numbersFrom(from, LINES).map((line) => [`${line}`, { line }]),
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
