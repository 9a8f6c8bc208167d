import { type OperationName, operations } from '../../lib/contract/routes.ts'
import budget from '../../test/nightly/bench/bundles/bundle-budget.json' with { type: 'json' }
import { timeBundles } from '../bundles/bundle-times.ts'
import { median, type Spread, toRatio } from '../harness/rounds.ts'
import { formatNumber, formatSpread, type SuiteContext, type SuiteResult } from '../report.ts'

const ROUNDS = { full: 11, quick: 3 }

/** What a cold start loads, compared with a bundle that only loads DynamoDBDocumentClient. */
export async function bundles({ quick, log }: SuiteContext): Promise<SuiteResult> {
  const rounds = quick ? ROUNDS.quick : ROUNDS.full
  log(`${rounds} rounds`)
  const { clientAlone, functions } = await timeBundles(rounds)
  const loads = functions.map((load) => ({ ...load, ratio: toRatio(load.times, clientAlone) }))
  const slowest = (isIncluded: (name: string) => boolean): Spread =>
    loads
      .filter(({ name }) => isIncluded(name))
      .map(({ ratio }) => ratio)
      .reduce((a, b) => (b.median > a.median ? b : a))
  return {
    figures: {
      readFunctionLoad: slowest((name) => operations[name as OperationName]?.method === 'GET'),
      runFunctionLoad: slowest((name) => name === 'run-agent'),
    },
    details: {
      title: 'Loading a bundle in a new process, processor time',
      rows: [
        {
          function: 'client alone',
          KB: '',
          'gzip KB': '',
          'budget KB': '',
          'CPU ms': formatNumber(median(clientAlone)),
          ratio: 1,
        },
        ...loads.map(({ name, atStart, atStartGzip, times, ratio }) => ({
          function: name,
          KB: Math.round(atStart / 1000),
          'gzip KB': Math.round(atStartGzip / 1000),
          'budget KB': (budget as Record<string, number>)[name] ?? '',
          'CPU ms': formatNumber(median(times)),
          ratio: formatSpread(ratio),
        })),
      ],
    },
  }
}
