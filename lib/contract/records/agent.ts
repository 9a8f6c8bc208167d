import * as z from 'zod'
import type { Access } from '../../core/access.ts'
import { type Agent, stepLimitsOf, type Version } from '../../core/agent.ts'
import { MAX_CHILDREN, MAX_PARALLEL_TOOL_CALLS } from '../../core/limits.ts'
import { nullableInt, nullableText, nullableTime, optionalText, schema } from './fields.ts'
import { costWarnings } from './limits.ts'
import { agentRollout, toAgentRollout } from './rollout.ts'

const declaredSchema = /* @__PURE__ */ schema(() => z.record(z.string(), z.unknown()))

export const agentRecord = /* @__PURE__ */ schema(() =>
  z
    .object({
      id: z.uuid(),
      orgId: z.uuid().describe('The organization that owns the agent.'),
      slug: z.string().describe('Human-readable identifier. Paths accept it instead of the ID.'),
      title: z.string(),
      description: nullableText,
      createdBy: z.uuid(),
      createdAt: z.iso.datetime(),
      updatedAt: z.iso.datetime(),
      currentVersionId: z.uuid().nullable().describe('Null while only a draft exists.'),
      draftVersionId: z.uuid().nullable(),
      draftVersionStatus: z.enum(['DRAFT']).nullable(),
      inputSchema: declaredSchema,
      outputSchema: declaredSchema,
      archivedAt: nullableTime.describe('An archived agent accepts no runs and no versions.'),
      rollout: agentRollout
        .nullable()
        .describe('The version that gets a part of the runs beside the current one. Null without any.'),
      abortedRollout: z
        .object({ versionId: z.uuid(), at: z.iso.datetime() })
        .optional()
        .describe('The last rollout that the service has ended; its version says why. Absent without any.'),
      keys: z
        .array(z.string())
        .optional()
        .describe(
          'Names of the keys of its current version, by which executions are found. Absent without any.',
        ),
    })
    .meta({ id: 'Agent' }),
)

const sha256 = () => z.string().regex(/^[0-9a-f]{64}$/)

const remoteRecord = /* @__PURE__ */ schema(() =>
  z.object({
    url: z.string().optional(),
    headers: z.record(z.string(), z.string()).optional(),
    allowedHosts: z.array(z.string()).optional(),
    lambda: z.object({ function: z.string() }).optional(),
    timeoutSeconds: z.int(),
    readOnly: z.boolean().optional().describe('Whether a trial may call it.'),
  }),
)

const versionFields = /* @__PURE__ */ schema(() =>
  z.object({
    id: z.uuid(),
    documentId: z.uuid().describe('The agent of this version.'),
    status: z.enum(['PUBLISHED', 'DRAFT']),
    title: z.string(),
    description: nullableText,
    message: nullableText.describe('What the author says about the version.'),
    number: nullableInt.describe(
      'Counts the versions of the agent: v1, v2, … Null for those of earlier releases.',
    ),
    createdBy: z.uuid().describe('The author: the ID of a token or of an operator.'),
    createdByName: optionalText.describe('The name of the token, or of the person, at that time.'),
    editedFrom: z
      .uuid()
      .optional()
      .describe(
        'The version of the repository from which it was made in the console. Absent for a version that comes from a repository.',
      ),
    promotedAt: nullableTime.describe('When it became current last. Null if it never did.'),
    promotedBy: z.uuid().nullable().describe('Who made it current: the ID of a token or of an operator.'),
    promotedByName: optionalText.describe('The name of the token, or of the person, at that time.'),
    createdAt: z.iso.datetime(),
    retiredAt: nullableTime.describe('A retired version accepts no new runs and cannot become current.'),
    rollout: z
      .object({ percent: z.number() })
      .optional()
      .describe('Present while a part of the runs gets the version.'),
    abortedRollout: z
      .object({
        at: z.iso.datetime(),
        reason: z.string().optional().describe('Absent for tokens that are bound to a tenant.'),
      })
      .optional()
      .describe('Why the service has ended its last rollout. Absent if it did not.'),
    inputSchema: declaredSchema,
    outputSchema: declaredSchema,
    model: nullableText,
    fallbacks: z
      .array(z.string())
      .optional()
      .describe('The models that continue a run when the model is not available. Absent if there are none.'),
    useDynamicLearning: z
      .boolean()
      .describe('Whether runs show the model similar past executions if the call does not say.'),
    learning: z.object({
      feedback: z
        .enum(['reviewed', 'all'])
        .describe(
          'Whose feedback runs with dynamic learning learn from: that of tokens with the scope `review` or `manage`, or that of all tokens.',
        ),
      unrated: z.boolean().describe('Whether they also learn from results that nobody rated.'),
    }),
    remote: remoteRecord
      .optional()
      .describe('Where a remote agent runs, as the document declares it. Absent for every other agent.'),
    scorers: z
      .array(
        z.object({
          agent: z.string(),
          min: z.number().optional(),
          sample: z.number().optional(),
          tolerance: z.number().optional(),
        }),
      )
      .optional()
      .describe('The agents that score its outputs, as the document declares them. Absent without any.'),
    toolNames: z.array(z.string()).describe('The names of the tools that the document declares.'),
    execution: z.object({
      useCache: z.boolean(),
      cacheTtlSeconds: nullableInt,
      enforceInputSchema: z
        .boolean()
        .describe('Whether input that does not match the schema is rejected unless the call says otherwise.'),
      maxAgentSteps: z.int().describe('The default of a run.'),
      maxAgentStepsAllowed: z.int().describe('The highest `maxAgentSteps` that a run may ask for.'),
      models: z
        .array(z.string())
        .nullable()
        .describe(
          'The models that a run may choose. Null: those of the provider of the model of the version, or of the default model.',
        ),
      timeoutSeconds: nullableInt,
      maxTokens: nullableInt,
      maxCostUsd: z.number().nullable(),
      maxParallelToolCalls: z
        .int()
        .describe('Tool calls of one response that are in progress at the same time.'),
      maxChildren: z.int().describe('Executions of other agents that the tool calls of a run start.'),
      allowedHosts: z
        .array(z.string())
        .optional()
        .describe('Where `context.fetch` may connect to beside public addresses. Absent for none.'),
      promotion: z
        .object({
          require: z.literal('trial').optional(),
          maxRegressed: z.int().optional(),
          maxChanged: z.int().optional(),
          maxError: z.int().optional(),
          maxCostIncrease: z.number().optional(),
          scores: z
            .record(z.string(), z.object({ min: z.number().optional(), maxDrop: z.number().optional() }))
            .optional()
            .describe('By the slug of the scorer.'),
          minRuns: z.int().optional(),
        })
        .optional()
        .describe(
          'What a trial has to meet before another version replaces this one. Absent if the document does not say.',
        ),
    }),
    contentHash: z
      .string()
      .describe('SHA-256 of document and code. Versions of an agent with equal hashes behave the same.'),
    documentHash: sha256().describe('SHA-256 of the document alone.'),
    codeHash: sha256().nullable().describe('SHA-256 of the code alone; null for model agents.'),
  }),
)

const PUBLISH_WARNINGS =
  'In the answer to publishing: models without a price, which limits in US dollars do not count, and what the schemas say without effect. Absent without any.'

export const versionRecord = /* @__PURE__ */ schema(() =>
  versionFields.extend({ warnings: costWarnings.describe(PUBLISH_WARNINGS) }).meta({ id: 'Version' }),
)

/** A version with its whole document, which lists leave out. */
export const versionDetails = /* @__PURE__ */ schema(() =>
  versionFields
    .extend({
      code: z.boolean().describe('Whether this is a version of a code agent.'),
      instructions: z.string(),
      modelSettings: z
        .object({ maxOutputTokens: z.int().optional(), temperature: z.number().optional() })
        .nullable(),
      tools: z.array(z.record(z.string(), z.unknown())).describe('As the document declares them.'),
      requireTools: z
        .boolean()
        .optional()
        .describe('Whether a run that calls none of the tools ends in ERROR. Absent if not.'),
      context: z
        .object({
          window: z.int().optional().describe('Tokens of the context window of the model.'),
          keep: z.int().optional().describe('Of the latest tool results, how many are never cleared.'),
        })
        .optional()
        .describe('As the document declares it.'),
      schedules: z
        .array(z.record(z.string(), z.unknown()))
        .optional()
        .describe('The schedules that the agent has while this version is current. Absent without any.'),
      keys: z
        .array(z.object({ name: z.string(), from: z.enum(['input', 'output']), pointer: z.string() }))
        .optional()
        .describe(
          'By what executions are found, as JSON Pointers into the input or the output. Absent without any.',
        ),
      env: z.array(z.string()).describe('The environment variables that a code agent may read.'),
      frontMatter: z
        .record(z.string(), z.unknown())
        .nullable()
        .optional()
        .describe(
          'The front matter that publishes the version again, without the comments of its author. Null if the service cannot write it without a difference. Present if the request asks for it.',
        ),
      sourceCode: z
        .string()
        .optional()
        .describe('The bundled ES module of a code agent. Present if the request asks for it.'),
    })
    .meta({ id: 'VersionDetails' }),
)

export type AgentRecord = z.infer<typeof agentRecord>
export type VersionRecord = z.infer<typeof versionRecord>
export type VersionDetails = z.infer<typeof versionDetails>

export function toAgentRecord(agent: Agent): AgentRecord {
  return {
    id: agent.id,
    orgId: agent.organizationId,
    slug: agent.slug,
    title: agent.title,
    description: agent.description,
    createdBy: agent.createdBy,
    createdAt: agent.createdAt,
    updatedAt: agent.updatedAt,
    currentVersionId: agent.current?.id ?? null,
    draftVersionId: agent.draftVersionId,
    draftVersionStatus: agent.draftVersionId ? 'DRAFT' : null,
    inputSchema: agent.inputSchema,
    outputSchema: agent.outputSchema,
    archivedAt: agent.archivedAt,
    rollout: agent.rollout && toAgentRollout(agent.rollout),
    ...(agent.current?.keys && { keys: agent.current.keys.map(({ name }) => name) }),
    ...toAbortedRollout(agent),
  }
}

function toAbortedRollout({ abortedRollouts }: Agent): Pick<AgentRecord, 'abortedRollout'> {
  const [last] = Object.values(abortedRollouts).toSorted((a, b) => (a.at < b.at ? 1 : -1))
  return last ? { abortedRollout: { versionId: last.versionId, at: last.at } } : {}
}

type States = Pick<Agent, 'retired' | 'rollout' | 'abortedRollouts'> &
  Partial<Pick<Agent, 'current' | 'promotion'>>

/** Who gets a record. */
type Reader = Pick<Access, 'tenantId'>

/** @param states of the versions of its agent */
export function toVersionRecord(
  version: Version,
  states: States,
  reader: Reader = { tenantId: null },
): VersionRecord {
  const {
    maxTokens = null,
    maxCostUsd = null,
    maxParallelToolCalls = MAX_PARALLEL_TOOL_CALLS.default,
    maxChildren = MAX_CHILDREN.default,
    models = null,
    enforceInputSchema = false,
  } = version.execution
  const steps = stepLimitsOf(version.execution)
  return {
    id: version.id,
    documentId: version.agentId,
    status: version.status,
    title: version.title,
    description: version.description,
    message: version.message ?? null,
    number: version.number ?? null,
    createdBy: version.createdBy,
    ...(version.createdByName && { createdByName: version.createdByName }),
    ...(version.editedFrom && { editedFrom: version.editedFrom }),
    ...toPromotion(version, states),
    createdAt: version.createdAt,
    retiredAt: states.retired[version.id] ?? null,
    ...toRolloutState(version.id, states, reader),
    inputSchema: version.inputSchema,
    outputSchema: version.outputSchema,
    model: version.model,
    ...(version.fallbacks && { fallbacks: version.fallbacks }),
    useDynamicLearning: version.useDynamicLearning ?? false,
    learning: {
      feedback: version.learning?.feedback ?? 'reviewed',
      unrated: version.learning?.unrated ?? false,
    },
    ...(version.remote && { remote: version.remote }),
    ...(version.scorers && { scorers: version.scorers }),
    toolNames: version.tools.map((tool) => String((tool as { name: string }).name)),
    execution: {
      ...version.execution,
      enforceInputSchema,
      maxAgentSteps: steps.default,
      maxAgentStepsAllowed: steps.max,
      models,
      maxTokens,
      maxCostUsd,
      maxParallelToolCalls,
      maxChildren,
    },
    contentHash: version.digest,
    documentHash: version.documentHash,
    codeHash: version.codeHash ?? null,
  }
}

function toPromotion({ id, promotion: last }: Version, { current, promotion }: States) {
  const { at, by, byName } = (current?.id === id ? promotion : last) ?? {}
  return { promotedAt: at ?? null, promotedBy: by ?? null, ...(byName && { promotedByName: byName }) }
}

/** The last rollout of a version that has had several. The reason has figures of all tenants. */
function toRolloutState(id: string, { rollout, abortedRollouts }: States, { tenantId }: Reader) {
  if (rollout?.versionId === id) return { rollout: { percent: rollout.percent } }
  const aborted = abortedRollouts[id]
  if (!aborted) return {}
  const { at, reason } = aborted
  return { abortedRollout: { at, ...(tenantId === null && { reason }) } }
}

export function toVersionDetails(version: Version, states: States, reader?: Reader): VersionDetails {
  return {
    ...toVersionRecord(version, states, reader),
    code: version.code,
    instructions: version.instructions,
    modelSettings: version.modelSettings ?? null,
    tools: version.tools as VersionDetails['tools'],
    ...(version.requireTools && { requireTools: true }),
    ...(version.context && { context: version.context }),
    ...(version.schedules && { schedules: version.schedules }),
    ...(version.keys && { keys: version.keys }),
    env: version.env,
  }
}
