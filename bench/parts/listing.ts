import { call } from '../client.ts'
import { short, withSpread } from '../format.ts'
import { type Load, load } from '../load.ts'
import type { Context, Finding, Part } from '../part.ts'
import { takeTurns } from '../rounds.ts'
import { type Service, startService } from '../service.ts'
import { percentile, ratioOf, type Spread } from '../statistics.ts'
import { type FilledOrganization, fillOrganization } from '../stored-executions.ts'

const FULL = { rounds: 9, forMs: 1_000, sizes: [1_000, 10_000, 100_000] }
/** Storing 100,000 takes half a minute. */
const QUICK = { rounds: 3, forMs: 300, sizes: [1_000, 10_000] }
/** What a client gets that asks for no other number. */
const PAGE = 50

const PAGES = {
  'of the organization': () => '/v1/agent_executions',
  'of an agent': ({ agentId }: FilledOrganization) => `/v1/agents/${agentId}/executions`,
  'that failed': () => '/v1/agent_executions?status=ERROR',
}
type PageName = keyof typeof PAGES

/** What the first page of a list takes, in organizations with more and more executions. */
export const listing: Part = { letter: 'c', title: 'a page of executions', run }

async function run({ workplace, quick, say }: Context): Promise<Finding> {
  const { rounds, forMs, sizes } = quick ? QUICK : FULL
  const service = await startService(workplace)
  const filled = new Map<number, FilledOrganization>()
  for (const stored of sizes) {
    say(`storing ${stored.toLocaleString('en')} executions`)
    filled.set(stored, await fillOrganization(service.table, stored))
  }
  const contenders = [...filled].flatMap(([stored, organization]) =>
    (Object.keys(PAGES) as PageName[]).map((page) => ({
      name: `${page} ${stored}`,
      run: () => readPage(service, organization, PAGES[page](organization)),
    })),
  )
  say('warming up')
  for (const contender of contenders) await load({ inFlight: 1, forMs, run: contender.run })
  say(`${rounds} rounds`)
  const turns = contenders.map(({ name, run }) => ({ name, turn: () => load({ inFlight: 1, forMs, run }) }))
  const loads = await takeTurns(turns, rounds)

  const figures: Record<string, Spread> = {}
  const rows = (Object.keys(PAGES) as PageName[]).flatMap((page) =>
    sizes.map((stored) => {
      const [own = [], base = []] = [loads[`${page} ${stored}`], loads[`${page} ${sizes[0]}`]]
      const ratio = ratioOf(p50s(own), p50s(base))
      figures[`page ${page} at ${stored.toLocaleString('en')} / 1,000`] = ratio
      const samples = own.flatMap((load) => load.samples)
      return {
        page,
        stored: stored.toLocaleString('en'),
        'p50 ms': short(percentile(samples, 0.5)),
        'p99 ms': short(percentile(samples, 0.99)),
        'p50 / at 1,000': withSpread(ratio),
        pages: samples.length,
      }
    }),
  )
  return { tables: [{ title: `The first ${PAGE} executions of a list, 1 in flight`, rows }], figures }
}

const p50s = (loads: Load[]) => loads.map(({ p50 }) => p50)

async function readPage(service: Service, { token }: FilledOrganization, path: string): Promise<void> {
  const { body } = await call(service.request('GET', path, { status: 200, token }))
  const { length } = JSON.parse(body) as unknown[]
  if (length !== PAGE) throw new Error(`${path} gave ${length} executions, not ${PAGE}.`)
}
