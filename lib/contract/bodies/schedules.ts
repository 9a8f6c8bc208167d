import * as z from 'zod/mini'
import { MAX_AGENT_STEPS, MAX_COST_USD, MAX_TOKENS } from '../../core/limits.ts'
import { CATCH_UP_SECONDS, OVERLAPS } from '../../core/schedule.ts'
import { tenant } from '../parameters/parameter-types.ts'
import { schema } from '../records/fields.ts'
import { flag, uuid, within } from './fields.ts'

/** The query parameters of a run that are stored with what starts it later. */
const storedOptions = () =>
  z.strictObject(
    {
      enforceInputSchema: flag(
        'Reject input that does not exactly match the input schema. Default: as the version.',
      ),
      maxAgentSteps: within(MAX_AGENT_STEPS, 'The maximum number of steps of the execution.'),
      maxTokens: within(MAX_TOKENS, 'The maximum number of input and output tokens.'),
      maxCostUsd: within(MAX_COST_USD, 'The maximum price of the model responses in US dollars.', false),
      model: z
        .optional(z.string({ error: 'must be a string such as "{model}[:{reasoning}]"' }))
        .check(z.describe('Overrides the model of the version.')),
      useCache: flag('Overrides the setting of the version.'),
      useDynamicLearning: flag('Overrides the setting of the version.'),
    },
    { error: 'must be a JSON object with query parameters of runs' },
  )

/** Replaces a schedule. */
export const scheduleBody = /* @__PURE__ */ schema(() => {
  const cronError = 'must be a string of five fields, such as "30 9 * * 1-5", or a form such as "@daily"'
  const zoneError = 'must be an IANA time zone, such as "Europe/Berlin"'
  const versionError = 'must be a version ID (a UUID), or null for the current version of the time'
  return z
    .strictObject({
      cron: z
        .string({ error: `is required and ${cronError}` })
        .check(z.describe('Minute, hour, day of the month, month, day of the week; or `@daily` and others.')),
      timezone: z
        .optional(z.string({ error: zoneError }))
        .check(z.describe('The IANA time zone of `cron`. Default: `UTC`.')),
      input: z
        .optional(z.record(z.string(), z.unknown(), { error: 'must be a JSON object' }))
        .check(z.describe('The input of each execution. Default: `{}`.')),
      tenantId: z.nullish(tenant()).check(z.describe('The tenant of the executions.')),
      options: z.optional(storedOptions()).check(z.describe('Query parameters of the runs.')),
      version: z
        .nullish(uuid(versionError))
        .check(z.describe('The version that runs. Default: null, the current version of the time.')),
      enabled: flag('Whether it fires. Default: true.'),
      overlap: z
        .optional(z.enum(OVERLAPS, { error: `must be ${OVERLAPS.map((each) => `"${each}"`).join(' or ')}` }))
        .check(
          z.describe(
            'What happens when it is due and its last execution is in progress. Default: `skip`, no execution starts.',
          ),
        ),
      catchUpSeconds: within(
        CATCH_UP_SECONDS,
        `After an outage, the latest time that was missed starts an execution if it is at most so long ago. Default: ${CATCH_UP_SECONDS.default}.`,
      ),
    })
    .check(z.meta({ id: 'ScheduleBody' }))
})

export type ScheduleBody = z.output<typeof scheduleBody>
