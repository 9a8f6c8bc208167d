import type { TokenLimits } from './access.ts'
import { isJsonObject, type Json, type JsonObject } from './json/json.ts'
import { MAX_AGENT_STEPS } from './limits.ts'
import type { AbortedRollout, Rollout } from './rollout.ts'
import type { DeclaredSchedule } from './schedule.ts'
import type { Scorer } from './score.ts'
import type { DeclaredKey } from './search-keys.ts'
import type { Gate } from './trial.ts'

/** The file that makes a folder an agent. */
export const DOCUMENT_FILE = 'agent.md'
/** The YAML of it. The lookbehind anchors the start of the file: with the m flag, ^ matches every line. */
export const FRONT_MATTER = /(?<![\s\S])---[ \t]*\r?\n([\s\S]*?)^---[ \t]*(?:\r?\n|$)/m

/** An `agent.md` whose front matter is JSON, which is YAML, too. */
export const toDocumentText = (frontMatter: JsonObject, instructions: string): string =>
  `---\n${JSON.stringify(frontMatter)}\n---\n\n${instructions}\n`

export type VersionStatus = 'PUBLISHED' | 'DRAFT'

/** Default settings of a version's runs; a call may override some. Times are seconds. */
export type ExecutionSettings = {
  useCache: boolean
  cacheTtlSeconds: number | null
  /** Whether input that does not match the schema is rejected, in place of adapting it. Absent: no. */
  enforceInputSchema?: boolean | undefined
  /** The default of a run and the most that a call may ask for. Absent: calls choose. */
  maxAgentSteps?: number | undefined
  /** Models that a call may choose. Absent: those of the provider of the version's own model. */
  models?: string[] | undefined
  timeoutSeconds: number | null
  /** The budget of a run; absent or null for no limit. */
  maxTokens?: number | null | undefined
  maxCostUsd?: number | null | undefined
  /** Absent for the defaults of `lib/core/limits.ts`. */
  maxParallelToolCalls?: number | undefined
  maxChildren?: number | undefined
  /** Where `context.fetch` of a code agent may connect to beside public addresses over HTTPS. */
  allowedHosts?: string[] | undefined
  /** What has to be met before another version becomes current. Absent: nothing. */
  promotion?: Gate | undefined
}

/** How many steps a run has by default, and how many a call may ask for. */
export const stepLimitsOf = ({ maxAgentSteps }: ExecutionSettings): { default: number; max: number } => ({
  default: maxAgentSteps ?? MAX_AGENT_STEPS.default,
  max: maxAgentSteps ?? MAX_AGENT_STEPS.max,
})

/** Whether a run is in strict mode: as its call says, otherwise as its version does. */
export const isStrict = (
  { execution }: Pick<Version, 'execution'>,
  { enforceInputSchema }: { enforceInputSchema?: boolean | undefined },
): boolean => enforceInputSchema ?? execution.enforceInputSchema ?? false

/** A URL or a Lambda function that runs an agent. The service signs what it sends to the URL. */
export type Remote = {
  url?: string | undefined
  headers?: Record<string, string> | undefined
  allowedHosts?: string[] | undefined
  lambda?: { function: string } | undefined
  timeoutSeconds: number
  readOnly?: boolean | undefined
}

/** What runs a version, for error messages. Only a model agent has a model that the service calls. */
export const kindOf = ({ code, remote }: Pick<Version, 'code' | 'remote'>): 'code' | 'remote' | 'model' =>
  remote ? 'remote' : code ? 'code' : 'model'

/** Limits and parameters of each model response; those that are absent are the provider's. */
export type ModelSettings = { maxOutputTokens?: number; temperature?: number }

/** Absent members: the window that is known for the model, and `KEPT_RESULTS`. */
export type ContextSettings = { window?: number | undefined; keep?: number | undefined }

/** Who has made a version current, and when (ISO 8601). `by`: the ID of a token or of an operator. */
export type Promotion = { at: string; by: string; byName?: string }

/**
 * One published document. Nothing in it changes, except that a draft becomes PUBLISHED when it is promoted. Schemas are
 * stored as the document declares them.
 */
export type Version = {
  id: string
  agentId: string
  organizationId: string
  slug: string
  status: VersionStatus
  title: string
  description: string | null
  createdAt: string
  createdBy: string
  /** Its name at that time; absent if an operator has published it. */
  createdByName?: string
  /** Its number within its agent, from 1 on: deleted drafts leave gaps. Absent in versions of earlier releases. */
  number?: number
  /** Its last promotion, once another version has replaced it. */
  promotion?: Promotion
  inputSchema: JsonObject
  outputSchema: JsonObject
  /** The model of a model agent; null for the default model and for a code agent. */
  model: string | null
  /** The models that continue a run when this one is not available, in order. Absent if the document has none. */
  fallbacks?: string[]
  /** Absent if the document has none. They also apply to a model that overrides this one. */
  modelSettings?: ModelSettings
  /** Whether runs learn if the call does not say. Absent: those of this agent do not, unless their caller's do. */
  useDynamicLearning?: boolean
  /** `feedback` is absent where only reviews teach, `unrated` where results that nobody rated do not. */
  learning?: { feedback?: 'all'; unrated?: true }
  /** A run without a call of a tool ends in ERROR. Absent where tools are optional. */
  requireTools?: true
  /** The schedules that the agent has while this version is current. Absent if the document has none. */
  schedules?: DeclaredSchedule[]
  /** By what people search for its executions. Absent if the document has none. */
  keys?: DeclaredKey[]
  /** The agents that score its outputs. Absent if the document has none. */
  scorers?: Scorer[]
  /** Tokens of the model's context window, and how many of the latest tool results are never cleared. */
  context?: ContextSettings
  /** As declared in the document. */
  tools: Json[]
  code: boolean
  /** Where a remote agent runs, as declared in the document. Absent for every other agent. */
  remote?: Remote
  /** Names of the environment variables that a code agent may read. */
  env: string[]
  instructions: string
  execution: ExecutionSettings
  /** SHA-256 of document and code: versions with equal digests behave the same. */
  digest: string
  /** SHA-256 of the document alone. */
  documentHash: string
  /** SHA-256 of the bundled code alone. Absent for a model agent. */
  codeHash?: string
  /** What the author says about this version. */
  message?: string
  /** The version of the repository from which it was made in the console. Absent for what comes from a repository. */
  editedFrom?: string
  /** It is current, or never was. Absent for drafts, and for what another version has replaced: that can come back. */
  neverReplaced?: true
}

/**
 * Whether a worker may run others next to a run of this version: not if it has code, or calls other agents, whose code
 * would run in the same worker.
 */
export const sharesWorker = ({ code, tools }: Pick<Version, 'code' | 'tools'>): boolean =>
  !code && !tools.some((tool) => isJsonObject(tool) && 'agent' in tool)

/** An agent, with its current version embedded: one read is enough to run it. */
export type Agent = Pick<Version, 'organizationId' | 'slug' | 'title' | 'description'> & {
  id: string
  createdAt: string
  createdBy: string
  updatedAt: string
  /** Schemas of the current version; of the draft while nothing is published. */
  inputSchema: JsonObject
  outputSchema: JsonObject
  current: Version | null
  draftVersionId: string | null
  /** Who made its current version current; null if an earlier release has made it current. */
  promotion: Promotion | null
  /** An archived agent accepts no runs and no versions; null for an active one. */
  archivedAt: string | null
  /** From when on its schedules have to follow its current version; null if they do. Milliseconds since the epoch. */
  syncAt: number | null
  /** The versions that accept no new runs and cannot become current, by id, with the time of their retirement. */
  retired: Record<string, string>
  /** The version that runs a part of the executions beside the current one; null without any. */
  rollout: Rollout | null
  /** By the id of the version, the last rollout that the service has ended. */
  abortedRollouts: Record<
    string,
    AbortedRollout & { /** Its event may not have been told. */ isPending?: true }
  >
}

export type Organization = { id: string; name: string; createdAt: string }

/** An API token as stored: only the hash, never the token itself. */
export type Token = TokenLimits & {
  id: string
  hash: string
  /** Its first characters, by which people recognize it. */
  prefix: string
  organizationId: string
  name: string
  createdBy: string
  /** `createdBy` is someone who signed in at the identity provider. */
  isOfPerson?: true
  createdAt: string
  expiresAt: string | null
  revokedAt: string | null
  /** The hour of the last use. */
  lastUsedAt: string | null
}
