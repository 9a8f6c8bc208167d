import type * as z from 'zod/mini'
import { publishBody } from '../api/schemas/bodies.ts'
import { InvalidAgent } from '../core/errors.ts'
import type { JsonObject } from '../core/json.ts'
import { toBodyViolations } from './body-violations.ts'

const FIELDS = Object.keys(publishBody.shape)

/** @throws InvalidAgent with one violation for each invalid member. What the texts contain is checked later. */
export function parsePublishBody(body: JsonObject): z.output<typeof publishBody> {
  const result = publishBody.safeParse(body)
  if (!result.success) throw new InvalidAgent(toBodyViolations(result.error, 'field of this request', FIELDS))
  return result.data
}
