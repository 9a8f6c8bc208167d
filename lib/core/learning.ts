import type { Version } from './agent.ts'
import type { Execution, Feedback } from './execution.ts'
import type { JsonObject } from './json/json.ts'

/** A past execution that a run can learn from. */
export type Example = Pick<
  Execution,
  'id' | 'organizationId' | 'agentId' | 'tenantId' | 'input' | 'cached'
> & {
  /** The corrected output if there is one. */
  output: JsonObject
  isCorrected: boolean
  rating: Feedback['rating'] | null
  note: string | null
}

/** What the search for examples knows of a rated execution. */
export type Lesson = Pick<Execution, 'id' | 'versionId'> & {
  isCorrected: boolean
  /** SHA-256 of the input as sent. */
  inputHash: string
  /** `searchTextOf` its input. */
  text: string
  embedding: Embedding | null
}

/** A text as a vector. Only vectors of the same model and length can be compared. */
export type Embedding = { model: string; vector: Int8Array }

/** The scope of learning: no run learns from another agent, organization or tenant. */
export type LearningScope = Pick<Execution, 'organizationId' | 'agentId' | 'tenantId'>

/** Rated executions considered for one run. */
export const MAX_LESSONS = 500

/** Unrated executions considered for one run. */
export const MAX_UNRATED = 30

/** Examples shown to one run. */
export const MAX_EXAMPLES = 3

/** Token budget of all examples of a run, including the text around them. */
export const EXAMPLES_TOKENS = 2_000

/** Estimate in UTF-8 bytes: characters that take more bytes also take more tokens. */
export const BYTES_PER_TOKEN = 4

/** Whose feedback teaches: that of tokens with the scope `review` or `manage` (the default), or that of all tokens. */
export type Teachers = 'reviewers' | 'all'

/** Whose feedback runs of a version learn from; its trials, and cases of its corrections, count no other. */
export const teachersOf = ({ learning }: Pick<Version, 'learning'>): Teachers =>
  learning?.feedback === 'all' ? 'all' : 'reviewers'

export interface LearningStore {
  /**
   * Replaces earlier feedback; a review goes on teaching until another one replaces it. Chunks of a large correction
   * are stored under `writer`, a name used only once.
   */
  giveFeedback(params: {
    organizationId: string
    id: string
    feedback: Feedback
    /** Whether it teaches where only reviews do. Default: true. */
    isReview?: boolean
    /** Of the execution's input. Without it, the one stored with earlier feedback remains. */
    embedding?: Embedding | null
    writer: string
  }): Promise<Execution | 'missing' | 'open'>
  /** Rated executions that can be examples: corrected ones, then liked ones, each newest first. */
  listLessons(params: LearningScope & { limit: number; teachers?: Teachers }): Promise<Lesson[]>
  /**
   * Of the newest `limit` executions, those whose output or correction is small enough for an example. Feedback that
   * does not teach counts as none.
   */
  listExamples(params: LearningScope & { limit: number; teachers?: Teachers }): Promise<Example[]>
  /** The executions of `ids` that still exist, in that order. */
  getExamples(params: LearningScope & { ids: string[]; teachers?: Teachers }): Promise<Example[]>
}

/** Whether the feedback says that the output is wrong. */
export const isRejection = ({ rating, correctedOutput }: Feedback): boolean =>
  rating === -1 || correctedOutput !== null
