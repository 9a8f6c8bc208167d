import type { Violation } from '../../core/errors.ts'
import type { JsonObject } from '../../core/json/json.ts'
import type { DeclaredSchedule } from '../../core/schedule.ts'
import { compileAdapter } from '../../schema/adapt/adapt-input.ts'
import { loadPatterns } from '../../schema/patterns/load-pattern-engine.ts'
import { compileStrictValidator } from '../../schema/validate/validate.ts'

/** What the input schema of the agent does not allow after the adaptation of a run. */
export async function findInputProblems(
  inputSchema: JsonObject,
  schedules: Pick<DeclaredSchedule, 'input'>[],
): Promise<{ schedule: number; violations: Violation[] }[]> {
  await loadPatterns(inputSchema)
  const [adapt, validate] = [compileAdapter(inputSchema), compileStrictValidator(inputSchema)]
  return schedules.flatMap(({ input }, schedule) => {
    const violations = validate(adapt(input).input)
    return violations.length > 0 ? [{ schedule, violations }] : []
  })
}
