import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { parse, stringify } from 'yaml'
import { sha256 } from '../../lib/core/json/hash-json.ts'
import { isJsonObject, type Json, type JsonObject } from '../../lib/core/json/json.ts'
import type { ServedDeclarations, ToolCall, ToolResult } from '../../lib/core/model.ts'
import type { ModelStep, RequestKey } from '../../lib/core/step.ts'

/** A model request that would fail again. A journal has only its consequence. */
export type RecordedError = { request: RequestKey; error: { message: string; isRefusal: boolean } }

/** A call of a step. `approved`: the input that a tool got, if the call needed an approval. */
export type JournalCall = ToolCall & {
  approved?: Json
  /** Absent for agents, and for calls that nobody approved. */
  result?: ToolResult
  /** The journal of the agent that it called; absent for code agents, which need none. */
  run?: RecordedJournal
}

/** A step of a model agent without what differs in each run, such as times. */
export type JournalStep = Pick<
  ModelStep,
  'model' | 'request' | 'text' | 'messages' | 'usage' | 'stopReason'
> &
  Pick<ModelStep, 'clearedResults' | 'isPaused'> & { calls: JournalCall[] }

/** The journal of a model agent, or the answer of a remote agent, with those of the agents that it called. */
export type RecordedJournal = {
  /** A hash of the tools of the document. */
  tools: string
  /** The declarations of its MCP tools. */
  declarations?: ServedDeclarations
  /** What a remote agent answered, and a hash of the input that it got. It has no steps then. */
  remote?: { input: string; output: JsonObject | null; error: { code: string; message: string } | null }
  steps: JournalStep[]
}

/** What the runs of one test case received from outside: everything that a replay does not compute again. */
export type Recording = {
  case: string
  /** The model that replaced the one of the document; null if none did. */
  model: string | null
  /** The model of agents whose document names none, if the journal does not say which one responded. */
  defaultModel: string | null
  /** How the execution ended that was corrected: the case expects the correction, and the recording has this. */
  corrected?: { output: JsonObject } | { error: string }
  /** Null for a code agent. */
  run: RecordedJournal | null
  errors: RecordedError[]
  /** By the slug of a scorer that has scored the output. */
  scorers?: Record<string, Recording>
}

/** A journal, and those of the agents that were called. */
export const runsOf = (journal: RecordedJournal): RecordedJournal[] => [
  journal,
  ...journal.steps.flatMap(({ calls }) => calls.flatMap(({ run }) => (run ? runsOf(run) : []))),
]

/** All steps, with those of called agents. */
export const stepsOf = (journal: RecordedJournal): JournalStep[] =>
  runsOf(journal).flatMap(({ steps }) => steps)

/** In the folder of the agent. */
export const RECORDINGS_FOLDER = 'recordings'

const HEADER = `# What a test case received from models and tools. Written by "agent-execution test --record", used by "agent-execution test --replay".
`

/** The path of the recording of a case. A name that is not unique as a file name gets a hash. */
export function recordingFile(folder: string, name: string, names: string[]): string {
  const base = toFileName(name)
  const isUnique = base !== '' && names.filter((other) => toFileName(other) === base).length === 1
  return join(folder, RECORDINGS_FOLDER, `${isUnique ? base : `${base}-${sha256(name).slice(0, 8)}`}.yaml`)
}

const MAX_FILE_NAME = 80

/** Empty if nothing of it can be in one. */
export const toFileName = (name: string): string =>
  name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, MAX_FILE_NAME)
    .replaceAll(/^-|-$/g, '')

/** Null if there is none. @throws an Error if the file is not a recording, or one in an earlier format */
export async function readRecording(file: string): Promise<Recording | null> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw error
  })
  if (text === null) return null
  const recording = parse(text) as Partial<Recording> | null
  const run = recording?.run
  const isRun = run === null || (isJsonObject(run) && Array.isArray(run.steps))
  if (isRun && Array.isArray(recording?.errors)) return recording as Recording
  const problem = recording && 'responses' in recording ? 'has an earlier format' : 'is not a recording'
  throw new Error(`${file} ${problem}. Record it again with --record.`)
}

export async function writeRecording(file: string, recording: Recording): Promise<void> {
  await mkdir(dirname(file), { recursive: true })
  const text = stringify(recording, { lineWidth: 0, aliasDuplicateObjects: false })
  await writeFile(file, HEADER + text)
}

/** Deletes the recordings of cases that no longer exist. */
export async function deleteOtherRecordings(folder: string, names: string[]): Promise<void> {
  const path = join(folder, RECORDINGS_FOLDER)
  const kept = new Set(names.map((name) => recordingFile(folder, name, names)))
  const files = (await readdir(path).catch(() => [])).map((file) => join(path, file))
  await Promise.all(files.filter((file) => file.endsWith('.yaml') && !kept.has(file)).map((file) => rm(file)))
}
