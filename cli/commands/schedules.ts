import { existsSync } from 'node:fs'
import { InvalidArgumentError, Option } from 'commander'
import type { Schedule, ScheduleBody } from '../../clients/typescript/src/index.ts'
import { isJsonObject, type JsonObject } from '../../lib/core/json/json.ts'
import { parseJson } from '../../lib/core/json/parse-json.ts'
import { OVERLAPS, SCHEDULE_NAME, SCHEDULE_NAME_RULE } from '../../lib/core/schedule.ts'
import type { CliCommand } from '../command.ts'
import { UserError } from '../errors.ts'
import { formatCommand, labelled, relativeTime, textTable } from '../format.ts'
import { readInput } from '../input-files.ts'
import type { SharedOptions } from '../options.ts'
import { addRunOptions, type RunOptions, toRunParameters } from '../run-options.ts'
import { readAll } from '../take.ts'

/** Commands on schedules, which start runs of an agent at certain times. */
export function addSchedulesCommand(program: CliCommand): void {
  const schedules = program
    .command('schedules')
    .description('Manage schedules, which start runs of an agent at certain times.')
  addRunOptions(
    named(schedules, 'set')
      .description('Create a schedule, or replace the one with this name.')
      .requiredOption('--cron <expression>', 'when: minute, hour, day, month, weekday; or @hourly, @daily, …')
      .option('--timezone <name>', 'IANA time zone of the expression; default: UTC')
      .option(
        '--input <json>',
        'input: a JSON object, a file that contains one, or - for standard input; default: {}',
      )
      .addOption(
        new Option('--overlap <what>', 'while the run before is in progress; default: skip').choices(
          OVERLAPS,
        ),
      )
      .option('--catch-up <seconds>', 'age at which a time that was missed still starts a run', parseSeconds)
      .option('--paused', 'start no runs until it is resumed'),
  )
    .examples(
      'schedules set daily-report weekdays --cron "30 9 * * 1-5" --timezone Europe/Berlin',
      `schedules set daily-report night --cron @daily --input '{"days": 1}' --catch-up 3600`,
    )
    .runWithService<SetOptions>(
      'manage',
      'set the schedule',
      async (client, options, [agent = '', name = '']) => {
        const {
          cron,
          timezone,
          tenant: tenantId,
          version,
          overlap,
          catchUp: catchUpSeconds,
          paused,
        } = options
        const body: ScheduleBody = withoutUndefined({
          ...{ cron, timezone, tenantId, version, overlap, catchUpSeconds },
          input: options.input === undefined ? undefined : await readObject(options.input),
          options: withoutUndefined(toRunParameters(options)) as ScheduleBody['options'],
          enabled: paused ? false : undefined,
        })
        const schedule = await client.setSchedule(agent, name, body)
        return { json: schedule, text: describe(schedule) }
      },
    )
  schedules
    .command('list')
    .description('List the schedules of an agent.')
    .argument('<slug>', "the agent's slug or ID")
    .examples('schedules list daily-report')
    .runWithService('read', 'list schedules', async (client, _, [agent = '']) => {
      const all = await readAll(client.schedules(agent, { limit: 100 }))
      const rows = all.map((schedule) => [
        schedule.name,
        schedule.cron,
        schedule.timezone,
        schedule.nextRunAt ? relativeTime(schedule.nextRunAt) : stateOf(schedule),
        schedule.firings[0] ? describeFiring(schedule.firings[0]) : '-',
      ])
      const empty = `The agent has no schedules. Create one: ${formatCommand({}, `schedules set ${agent} <name> --cron <expression>`)}`
      return { json: all, text: textTable(['SCHEDULE', 'CRON', 'TIME ZONE', 'NEXT', 'LAST'], rows, empty) }
    })
  named(schedules, 'get')
    .description('Show a schedule and its last firings.')
    .examples('schedules get daily-report weekdays')
    .runWithService('read', 'get the schedule', async (client, _, [agent = '', name = '']) => {
      const schedule = await client.schedule(agent, name)
      return { json: schedule, text: describe(schedule) }
    })
  addEnableCommand(schedules, 'pause')
  addEnableCommand(schedules, 'resume')
  named(schedules, 'run')
    .description('Start a run of a schedule now. Its next time stays as it is.')
    .examples('schedules run daily-report weekdays')
    .runWithService('manage', 'run the schedule', async (client, _, [agent = '', name = '']) => {
      const execution = await client.runSchedule(agent, name)
      return { json: execution, text: execution.id }
    })
  named(schedules, 'delete')
    .description('Delete a schedule. Its executions stay.')
    .examples('schedules delete daily-report weekdays')
    .runWithService('manage', 'delete the schedule', async (client, _, [agent = '', name = '']) => {
      await client.deleteSchedule(agent, name)
      return { json: { name, deleted: true }, text: `Deleted the schedule ${name}.` }
    })
}

const named = (schedules: CliCommand, command: string): CliCommand =>
  schedules
    .command(command)
    .argument('<slug>', "the agent's slug or ID")
    .argument('<name>', 'name of the schedule', parseScheduleName)

/** Before it is in a path, where `..` would be another resource. */
function parseScheduleName(text: string): string {
  if (SCHEDULE_NAME.test(text)) return text
  throw new InvalidArgumentError(`It ${SCHEDULE_NAME_RULE}.`)
}

type SetOptions = SharedOptions &
  RunOptions & {
    cron: string
    timezone?: string
    input?: string
    overlap?: Schedule['overlap']
    catchUp?: number
    paused?: true
  }

const withoutUndefined = <T extends object>(value: T): T =>
  Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as T

function parseSeconds(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('It must be a whole number of seconds.')
}

/** @throws UserError */
async function readObject(source: string): Promise<JsonObject> {
  if (!/^\s*\{/.test(source) && (source === '-' || existsSync(source))) return readInput(source)
  try {
    const value = parseJson(source)
    if (isJsonObject(value)) return value
  } catch (error) {
    throw new UserError(
      `--input must be a JSON object, a file that contains one, or -. As JSON, it ${(error as Error).message}.`,
    )
  }
  throw new UserError('--input must be a JSON object.')
}

const stateOf = ({ enabled, nextRunAt }: Schedule): string =>
  enabled ? (nextRunAt ? 'enabled' : 'no time is left') : 'paused'

const describeFiring = ({ scheduledFor, status, code }: Schedule['firings'][number]): string =>
  `${status.toLowerCase()}${code ? ` (${code})` : ''} ${relativeTime(scheduledFor)}`

const describe = (schedule: Schedule): string =>
  labelled(
    [
      ['schedule', schedule.name],
      ['cron', `${schedule.cron} (${schedule.timezone})`],
      ['state', stateOf(schedule)],
      ...(schedule.declared ? [['declared', 'by the document of the agent']] : []),
      ['next', schedule.nextRunAt ? `${schedule.nextRunAt} (${relativeTime(schedule.nextRunAt)})` : '-'],
      ['version', schedule.version ?? 'the current one'],
      ['tenant', schedule.tenantId ?? '-'],
      ['overlap', schedule.overlap],
      ['catch up', `${schedule.catchUpSeconds} s`],
      ['input', JSON.stringify(schedule.input)],
      ['options', JSON.stringify(schedule.options)],
      ...schedule.firings.map((firing, index) => [
        index === 0 ? 'firings' : '',
        `${firing.scheduledFor} ${describeFiring(firing)}${firing.executionId ? ` ${firing.executionId}` : ''}`,
      ]),
    ],
    12,
  )

const TEXTS = {
  pause: ['Pause a schedule: it starts no runs.', 'Paused'],
  resume: ['Resume a schedule that was paused.', 'Resumed'],
} as const

function addEnableCommand(schedules: CliCommand, verb: 'pause' | 'resume'): void {
  const [description, done] = TEXTS[verb]
  named(schedules, verb)
    .description(description)
    .examples(`schedules ${verb} daily-report weekdays`)
    .runWithService('manage', `${verb} the schedule`, async (client, _, [agent = '', name = '']) => {
      const { cron, timezone, input, tenantId, options, version, overlap, catchUpSeconds } =
        await client.schedule(agent, name)
      const schedule = await client.setSchedule(agent, name, {
        ...{ cron, timezone, input, tenantId, options, version, overlap, catchUpSeconds },
        enabled: verb === 'resume',
      })
      const next = schedule.nextRunAt ? ` It runs next ${relativeTime(schedule.nextRunAt)}.` : ''
      return { json: schedule, text: `${done} the schedule ${name}.${next}` }
    })
}
