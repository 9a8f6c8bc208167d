/** Prints on which keys of the table and its indexes runs fall, and at how many runs a second the first one breaks. */
import { Command, InvalidArgumentError } from 'commander'
import { keysReport } from './keys/report.ts'
import { toText } from './keys/text.ts'

/** Enough that the draws' own unevenness stays at a few percent; a multiple of 256, the bytes that shards follow from. */
const RUNS = 5_120

const program = new Command('npm run simulate --')
  .description(
    'Simulates how runs fall on the partition keys of the table and its indexes, and where it breaks.',
  )
  .option('--seed <number>', 'other draws', toWhole, 1)
  .option('--runs <number>', 'runs of each kind', toWhole, RUNS)
  .option('--json', 'print one JSON document instead of tables', false)
  .addHelpText('after', '\nWhat it means: docs/scaling.md')

const { seed, runs, json } = program.parse().opts<{ seed: number; runs: number; json: boolean }>()
const report = await keysReport({ runs, seed })
console.log(json ? JSON.stringify(report, null, 2) : toText(report))

function toWhole(text: string): number {
  if (!/^[1-9]\d{0,6}$/.test(text)) throw new InvalidArgumentError('It must be a whole number from 1.')
  return Number(text)
}
