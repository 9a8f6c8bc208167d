import * as z from 'zod'
import { isTenantId } from '../../core/access.ts'
import { isJsonObject, type JsonObject } from '../../core/json/json.ts'
import { MAX_AGENT_STEPS, MAX_COST_USD, MAX_TOKENS } from '../../core/limits.ts'
import {
  CATCH_UP_SECONDS,
  type DeclaredSchedule,
  MAX_SCHEDULES,
  OVERLAPS,
  SCHEDULE_NAME,
  SCHEDULE_NAME_RULE,
} from '../../core/schedule.ts'
import { checkCron } from '../cron.ts'

const within = ({ min, max }: { min: number; max: number }) => z.int().min(min).max(max)

export const scheduleOptionsSchema = z.strictObject({
  enforceInputSchema: z.boolean().optional(),
  maxAgentSteps: within(MAX_AGENT_STEPS).optional(),
  maxTokens: within(MAX_TOKENS).optional(),
  maxCostUsd: z.number().min(MAX_COST_USD.min).max(MAX_COST_USD.max).optional(),
  model: z.string().optional(),
  useCache: z.boolean().optional(),
  useDynamicLearning: z.boolean().optional(),
})

/** Without `enabled` and `version`: a pause is a matter of the deployment, and the document runs itself. */
const fields = {
  cron: z.string(),
  timezone: z.string().default('UTC'),
  input: z.custom<JsonObject>(isJsonObject, 'must be an object').default({}),
  tenantId: z
    .string()
    .refine(isTenantId, 'must have 1 to 128 characters and no control characters')
    .nullable()
    .default(null),
  options: scheduleOptionsSchema.prefault({}),
  overlap: z.enum(OVERLAPS).default('skip'),
  catchUpSeconds: within(CATCH_UP_SECONDS).default(CATCH_UP_SECONDS.default),
}

type Checked = z.core.ParsePayload<{ cron: string; timezone: string }>

function checkTimes({ value: { cron, timezone }, issues }: Checked): void {
  for (const { path, message } of checkCron(cron, timezone)) {
    const field = path.slice(1)
    const rest = message.replace(/\.$/, '').replace(`${field}: `, 'is wrong: ').replace(`${field} `, '')
    issues.push({ code: 'custom', input: value(field, { cron, timezone }), path: [field], message: rest })
  }
}

const value = (field: string, values: Record<string, string>) => values[field]

export const scheduleSchema = z.strictObject(fields)
const byName = z.record(z.string(), scheduleSchema.check(checkTimes))

export const namedScheduleSchema = z.strictObject({ name: z.string(), ...fields })
const list = z.array(namedScheduleSchema.check(checkTimes))

const ERROR =
  'must map names to schedules, such as nightly: { cron: "@daily" }, or be a list of schedules that have names'

/** A map, or a list. Not a union, whose issues would not say which of them is meant. */
export const schedulesSchema = z
  .custom<JsonObject | JsonObject[]>((value) => Array.isArray(value) || isJsonObject(value), {
    error: ERROR,
    abort: true,
  })
  .transform((value, { issues }): DeclaredSchedule[] => {
    const { data, error } = parse(value)
    issues.push(...((error?.issues ?? findNameIssues(data, Array.isArray(value))) as z.core.$ZodRawIssue[]))
    return data ?? []
  })

function parse(value: JsonObject | JsonObject[]) {
  if (Array.isArray(value)) return list.safeParse(value, { reportInput: true })
  const { data, error } = byName.safeParse(value, { reportInput: true })
  return { data: data && Object.entries(data).map(([name, schedule]) => ({ name, ...schedule })), error }
}

function findNameIssues(schedules: DeclaredSchedule[] = [], isList: boolean): object[] {
  const names = schedules.map(({ name }) => name)
  if (names.length > MAX_SCHEDULES)
    return [{ code: 'custom', input: names, message: `must have at most ${MAX_SCHEDULES} schedules` }]
  return names.flatMap((input, index) => {
    const issue = (message: string) => ({
      code: 'custom',
      input,
      path: isList ? [index, 'name'] : [input],
      message,
    })
    if (!SCHEDULE_NAME.test(input)) return [issue(`is no name of a schedule: it ${SCHEDULE_NAME_RULE}`)]
    return names.indexOf(input) < index ? [issue('is the name of another schedule, too')] : []
  })
}
