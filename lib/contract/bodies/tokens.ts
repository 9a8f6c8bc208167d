import * as z from 'zod/mini'
import {
  MAX_TOKEN_AGENTS,
  MAX_TOKEN_NAME,
  MAX_TOKEN_RATE,
  SCOPES,
  TOKEN_LIFETIME_DAYS,
} from '../../core/access.ts'
import { isSlug, isUuid, namePattern } from '../../core/ids.ts'
import { tenant } from '../parameters/parameter-types.ts'
import { schema } from '../records/fields.ts'
import { integerIn, oneToMany } from './fields.ts'

/** A new API token. */
export const tokenBody = /* @__PURE__ */ schema(() => {
  const nameError = `is required and must be a string of 1 to ${MAX_TOKEN_NAME} characters without control characters`
  const scopesError = `must be a list of ${SCOPES.join(', ')}, each at most once`
  const agentError = 'must be the slug or ID of an agent'
  const agentsError = `must be a list of 1 to ${MAX_TOKEN_AGENTS} slugs or IDs of agents, or null for all`
  const rateError = `must be an integer from 1 to ${MAX_TOKEN_RATE}, or null for no limit`
  const expiryError = 'must be a date and time with a time zone, such as 2027-11-22T09:30:00Z, or null'
  const agent = z.string({ error: agentError }).check(
    z.refine((text) => isUuid(text) || isSlug(text), { error: agentError }),
    z.toLowerCase(),
  )
  return z
    .strictObject({
      name: z.string({ error: nameError }).check(
        z.trim(),
        z.regex(namePattern(MAX_TOKEN_NAME), { error: nameError }),
        z.refine((text) => text.isWellFormed(), { error: nameError }),
        z.describe('What lists show it by.'),
      ),
      scopes: z
        .optional(
          z
            .array(z.enum(SCOPES, { error: `must be one of ${SCOPES.join(', ')}` }), { error: scopesError })
            .check(
              z.minLength(1, { error: scopesError }),
              z.refine((scopes) => new Set(scopes).size === scopes.length, { error: scopesError }),
            ),
        )
        .check(z.describe('What it may do. Default: `run` and `read`.')),
      agents: z
        .nullish(oneToMany(agent, MAX_TOKEN_AGENTS, agentsError))
        .check(
          z.describe(
            'Slugs or IDs of the only agents that it may use; they need not exist yet. Null: all. Default: those of your token.',
          ),
        ),
      tenantId: z
        .nullish(tenant())
        .check(z.describe('The only tenant that it may use. Null: any. Default: that of your token.')),
      rate: z
        .nullish(integerIn({ min: 1, max: MAX_TOKEN_RATE }, rateError))
        .check(z.describe('Its maximum requests per second. Null: no limit. Default: that of your token.')),
      expiresAt: z
        .nullish(z.iso.datetime({ offset: true, error: expiryError }))
        .check(
          z.describe(
            `When it expires (RFC 3339): at most ${TOKEN_LIFETIME_DAYS.max} days from now. Null: never. Default: in ${TOKEN_LIFETIME_DAYS.default} days. If your token expires: at most its own lifetime from now, for people ${TOKEN_LIFETIME_DAYS.maxOfPerson} days, also by default; not null.`,
          ),
        ),
    })
    .check(z.meta({ id: 'TokenBody' }))
})
