import type { Agreement, ScoreOptions, ScoreRow } from '../../clients/typescript/src/index.ts'
import { agentCommand, type CliCommand } from '../command.ts'
import { textTable } from '../format.ts'
import { parseTime } from '../options.ts'
import { readAll } from '../take.ts'

/** Shows what scorers say about the production runs of an agent, and how far people agree with them. */
export function addScoresCommand(program: CliCommand): void {
  agentCommand(program, 'scores')
    .description('Show the scores of the production runs of an agent by day, and how far people agree.')
    .option('--from <time>', 'date or time of the first day (default: 30 days before --to)', parseTime)
    .option('--to <time>', 'date or time of the end (default: now)', parseTime)
    .examples('scores summarize-text --from 2026-11-01')
    .runWithService<Pick<ScoreOptions, 'from' | 'to'>>(
      'read',
      'read the scores',
      async (client, { from, to }, [agent]) => {
        const [scores, agreement] = [
          await readAll(client.scores({ agent, from, to })),
          await client.agreement({ agent }),
        ]
        const tables = [
          textTable(DAYS, scores.map(toDay), 'No run was scored in this time.'),
          textTable(PEOPLE, agreement.map(toPeople), 'No run with a score was reviewed.'),
        ]
        return { json: { scores, agreement }, text: tables.join('\n\n') }
      },
    )
}

const DAYS = ['DAY', 'SCORER', 'VERSION', 'RUNS', 'MEAN', 'LOW', 'FAILED']
const PEOPLE = ['SCORER', 'REVIEWED', 'KAPPA', 'HIGH LIKED', 'HIGH DISLIKED', 'LOW LIKED', 'LOW DISLIKED']

const toDay = ({ start, scorer, versionId, runs, mean, low, failed }: ScoreRow): string[] => [
  ...[start.slice(0, 10), scorer, versionId, String(runs), inDigits(mean)],
  ...[low, failed].map(String),
]

const toPeople = ({ scorer, runs, kappa, ...cells }: Agreement): string[] => [
  ...[scorer, String(runs), inDigits(kappa)],
  ...[cells.highLiked, cells.highDisliked, cells.lowLiked, cells.lowDisliked].map(String),
]

const inDigits = (value: number | null): string => value?.toFixed(2) ?? '-'
