import { timeBundles } from '../../infra/bundling/bundle-times.ts'
import type { FunctionName } from '../../infra/functions/function-settings.ts'
import { short, withSpread } from '../format.ts'
import type { Context, Finding, Part } from '../part.ts'
import { median, ratioOf, spreadOf } from '../statistics.ts'

const ROUNDS = { full: 11, quick: 3 }
const READERS: FunctionName[] = [
  'get-agent',
  'list-agents',
  'list-versions',
  'get-execution',
  'list-executions',
  'list-agent-executions',
  'list-steps',
]

/** What a cold start loads before it can do anything, beside DynamoDB's document client alone. */
export const bundles: Part = { letter: 'f', title: "loading each function's bundle", run }

async function run({ quick, say }: Context): Promise<Finding> {
  const rounds = quick ? ROUNDS.quick : ROUNDS.full
  say(`${rounds} rounds`)
  const { clientAlone, functions } = await timeBundles(rounds)
  const loads = functions.map(({ name, atStart, times }) => ({
    name,
    atStart,
    times,
    ratio: ratioOf(times, clientAlone),
  }))
  const slowest = loads
    .filter(({ name }) => READERS.includes(name))
    .reduce((a, b) => (b.ratio.median > a.ratio.median ? b : a))
  const runAgent = loads.find(({ name }) => name === 'run-agent')
  if (!runAgent) throw new Error('There is no bundle of run-agent.')
  const rows = loads.map(({ name, atStart, times, ratio }) => ({
    function: name,
    'loads kB': Math.round(atStart / 1000),
    'p50 ms': short(median(times)),
    '/ client alone': withSpread(ratio),
  }))
  const alone = {
    function: 'DynamoDBDocumentClient alone',
    'loads kB': '',
    'p50 ms': short(median(clientAlone)),
  }
  return {
    tables: [
      {
        title: 'Loading a bundle in a fresh process',
        rows: [{ ...alone, '/ client alone': '1.00' }, ...rows],
      },
    ],
    figures: {
      'client alone ms': spreadOf(clientAlone),
      'slowest read function': slowest.ratio,
      'run function': runAgent.ratio,
    },
  }
}
