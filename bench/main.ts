import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Command, InvalidArgumentError } from 'commander'
import { ROOT } from './child.ts'
import { hangUp } from './client.ts'
import type { Finding, Part } from './part.ts'
import { PARTS } from './parts.ts'
import { plot } from './plot.ts'
import { type Report, reportOf, toText } from './report.ts'
import { openWorkplace } from './workplace.ts'

type Options = { quick: boolean; only?: Part[]; json: boolean; write: boolean }

const COMMITTED = 'docs/bench'
const SCRATCH = '.bench'

const program = new Command('npm run bench --')
  .description('Measures the whole service on this machine beside a floor in the same run.')
  .option('--quick', 'fewer and shorter rounds: under 2 minutes', false)
  .option('--only <letters>', 'only these parts, as in a,c', toParts)
  .option('--json', 'print one JSON document instead of tables', false)
  .option('--write', `put results.json and results.svg into ${COMMITTED} instead of ${SCRATCH}`, false)
  .addHelpText('after', `\nParts:\n${PARTS.map(({ letter, title }) => `  ${letter}  ${title}`).join('\n')}`)

const workplace = openWorkplace()
let isInterrupted = false
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, async () => {
    isInterrupted = true
    await workplace.clear()
    process.exit(1)
  })
}
try {
  const { quick, only = PARTS, json, write } = program.parse().opts<Options>()
  if (write && only !== PARTS)
    program.error(`error: ${COMMITTED} holds all parts: leave --only out to refresh it.`)
  const report = await measure(only, quick)
  const folder = await keep(report, write ? COMMITTED : SCRATCH)
  console.log(json ? JSON.stringify(report, null, 2) : toText(report))
  say(`in ${folder}`)
} catch (error) {
  if (!isInterrupted) console.error(error)
  process.exitCode = 1
} finally {
  await workplace.clear()
}

async function measure(parts: Part[], quick: boolean): Promise<Report> {
  const startedAt = new Date()
  const found: { part: Part; finding: Finding }[] = []
  for (const part of parts) {
    say(`${part.letter}  ${part.title}`)
    const finding = await part.run({ workplace, quick, say: (line) => say(`   ${line}`) })
    found.push({ part, finding })
    hangUp()
    await workplace.clear()
  }
  return reportOf(found, { quick, startedAt })
}

async function keep(report: Report, folder: string): Promise<string> {
  const path = join(ROOT, folder)
  await mkdir(path, { recursive: true })
  await writeFile(join(path, 'results.json'), `${JSON.stringify(report, null, 2)}\n`)
  const svg = plot(report)
  if (svg !== null) await writeFile(join(path, 'results.svg'), svg)
  return folder
}

function toParts(text: string): Part[] {
  const letters = text.toLowerCase().split(',')
  const unknown = letters.find((letter) => !PARTS.some((part) => part.letter === letter))
  if (unknown !== undefined) throw new InvalidArgumentError(`There is no part "${unknown}".`)
  return PARTS.filter(({ letter }) => letters.includes(letter))
}

function say(line: string): void {
  process.stderr.write(`${line}\n`)
}
