import type { KeyLoad } from './limits.ts'
import { type Broken, type KeysReport, PLANS, type Row, TARGET } from './report.ts'
import { PLACES, type Place } from './units.ts'

const NAMES: Record<Place, string> = {
  table: 'table',
  'owned-by-organization': 'owned',
  'executions-of-agent': 'of agent',
  'open-executions': 'open',
  'open-executions-of-organization': 'open of org.',
}

type Cell = string | number

/** Tables that a terminal and Markdown both show. */
export function toText(report: KeysReport): string {
  const { seed, runs, units, rows, stored, afterSplit, counting, countingBreaks } = report
  const sections: [string, Cell[][]][] = [
    [
      'Units of one run: written to each place, and read from the table',
      [
        ['run', ...PLACES.map((place) => NAMES[place]), 'written', 'read'],
        ...units.map(({ kind, places }) => {
          const of = (place: Place) => places.find((one) => one.place === place)?.writes ?? 0
          const reads = places.reduce((sum, one) => sum + one.reads, 0)
          const writes = places.reduce((sum, one) => sum + one.writes, 0)
          return [kind, ...[...PLACES.map(of), writes, reads].map((value) => Number(value.toFixed(2)))]
        }),
      ],
    ],
    [
      'Share of the hottest key: of what is written to each place, and of what is read from the table',
      [
        ['runs', ...PLACES.map((place) => NAMES[place]), 'read'],
        ...rows.map((row) => [
          nameOf(row),
          ...PLACES.map((place) => shareOf(row.hottest, place, 'writes')),
          shareOf(row.hottest, 'table', 'reads'),
        ]),
      ],
    ],
    [
      'Where it breaks: the first key that needs more than a partition gives, in runs a second',
      [
        ['runs', ...PLANS.map(({ name }) => name), 'quota of 40,000'],
        ...rows.map((row) => [
          nameOf(row),
          ...row.breaks.map(brokenCell),
          `${thousands(row.quota.runsASecond)} ${NAMES[row.quota.place]}`,
        ]),
      ],
    ],
    [
      `Partitions for ${thousands(TARGET)} runs a second (Zipf, async) before a split for heat, keys placed by MD5`,
      [
        ['place', 'units a second', 'partitions', 'keys', 'hottest partition', 'its units a second'],
        ...report.layouts.map(({ place, unitsASecond, partitions, keys, share }) => [
          NAMES[place],
          thousands(unitsASecond),
          partitions,
          thousands(keys),
          percent(share),
          thousands(share * unitsASecond),
        ]),
      ],
    ],
    [
      'Splitting a range of sort keys at its median: share of later writes on the newer half',
      [
        ['index', ...afterSplit.map(({ place }) => NAMES[place])],
        ['share', ...afterSplit.map(({ share }) => percent(share))],
      ],
    ],
    [
      'Stored of a sync run, index entries with their 100 bytes',
      [
        ['', ...stored.map(({ place }) => NAMES[place])],
        ['bytes', ...stored.map(({ bytesPerRun }) => Math.round(bytesPerRun))],
        ['partitions at 1e9', ...stored.map(({ partitions }) => partitions)],
      ],
    ],
    [
      'Counts of the cap on open executions (1 Query each) for each run, far below the cap',
      [
        ['organizations', 'skew', 'runs a second and process', 'counts a run'],
        ...counting.map(({ intake, countsPerRun }) => [
          thousands(intake.organizations),
          intake.skew,
          intake.runsASecond,
          countsPerRun.toFixed(2),
        ]),
      ],
    ],
    [
      'Where counting breaks: one organization of sync runs, its cap far away',
      [
        ['a run takes', 'counts a run', 'runs a second', 'open then'],
        ...countingBreaks.map(({ seconds, countsPerRun, runsASecond }) => [
          `${seconds} s`,
          countsPerRun.toFixed(2),
          thousands(runsASecond),
          thousands(runsASecond * seconds),
        ]),
      ],
    ],
  ]
  const title = `${thousands(runs)} runs of each kind, seed ${seed}.`
  return [title, ...sections.map(([heading, table]) => `${heading}\n\n${markdown(table)}`)].join('\n\n')
}

const nameOf = ({ scenario, kind }: Row) => `${scenario}, ${kind}`

function shareOf(hottest: KeyLoad[], place: Place, unit: KeyLoad['unit']): string {
  const key = hottest.find((one) => one.place === place && one.unit === unit)
  return key ? percent(key.share) : '–'
}

/** `4,000 open`: the runs a second, and the place; of the table the kind of the key too. */
function brokenCell({ place, key, unit, runsASecond }: Broken): string {
  const name = place === 'table' ? `${key.split('#')[0]} ${unit}` : NAMES[place]
  return `${thousands(runsASecond)} ${name}`
}

const percent = (share: number) => `${(share * 100).toFixed(share < 0.1 ? 1 : 0)} %`

/** Three digits that count, with commas. */
const thousands = (value: number) => Number(value.toPrecision(3)).toLocaleString('en-US')

function markdown([head = [], ...rows]: Cell[][]): string {
  const texts = [head, ...rows].map((row) => row.map(String))
  const widths = head.map((_, column) => Math.max(3, ...texts.map((row) => (row[column] ?? '').length)))
  const line = (row: string[]) =>
    `| ${row.map((text, column) => (column === 0 ? text.padEnd(widths[column] ?? 0) : text.padStart(widths[column] ?? 0))).join(' | ')} |`
  const rule = widths.map(
    (width, column) => '-'.repeat(column === 0 ? width : width - 1) + (column === 0 ? '' : ':'),
  )
  return [texts[0] ?? [], rule, ...texts.slice(1)].map(line).join('\n')
}
