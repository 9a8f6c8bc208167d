import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { parse, stringify } from 'yaml'
import { sha256 } from '../../lib/core/json/hash-json.ts'
import type { Json, JsonObject } from '../../lib/core/json/json.ts'
import type { ModelResponse, RequestKey, ServedDeclarations, ToolResult } from '../../lib/core/model.ts'
import type { Engine } from '../../lib/engine/engine.ts'
import type { ToolDocument } from '../../lib/tools/document/tool-fields.ts'

/** What a key of a recording consists of: recordings have the declarations themselves. */
const PARTS: Record<Exclude<keyof RequestKey, 'declarations'>, string> = {
  model: 'the model',
  answerMode: 'how the output is requested',
  instructions: 'the instructions',
  tools: 'the tools or the output schema',
  messages: 'the input, an earlier response or a tool result',
  truncatedAfter: 'the output limit',
}

/** What differs between a request and the most similar recorded one; empty if there is none. */
export function explainChange(key: RequestKey, recorded: RequestKey[]): string {
  const parts = Object.keys(PARTS) as (keyof typeof PARTS)[]
  const [changed = []] = recorded
    .map((other) => parts.filter((part) => key[part] !== other[part]))
    .sort((a, b) => a.length - b.length)
  return changed.length === 0 ? '' : ` Changed: ${changed.map((part) => PARTS[part]).join(', ')}.`
}

/** How an engine reaches models and tools. */
export type Sources = Required<Pick<Engine, 'openModel' | 'openTools'>>

/** A model response, or the error of a request that would fail again. */
export type RecordedResponse = { request: RequestKey } & (
  | { response: ModelResponse }
  | { error: { message: string; isRefusal: boolean } }
)

/** A call of an HTTP, Lambda or MCP tool. `at`: step and call. `tools`: a hash of the tools of the document. */
export type CallKey = { tool: string; input: Json; at: string; tools: string }

/** What the runs of one test case received from outside: everything that a replay does not compute again. */
export type Recording = {
  case: string
  /** The model that replaced the one of the document; null if none did. */
  model: string | null
  /** The model of agents whose document names none. */
  defaultModel: string | null
  responses: RecordedResponse[]
  calls: { call: CallKey; result: ToolResult }[]
  /** The declarations of MCP tools, by the hash of the tools of their document. */
  declarations: { tools: string; served: ServedDeclarations }[]
  /** How the execution ended that was corrected: the case expects the correction, and the recording has this. */
  corrected?: { output: JsonObject } | { error: string }
}

export const newRecording = (
  origin: Partial<Pick<Recording, 'case' | 'model' | 'defaultModel'>>,
): Recording => ({
  case: '',
  model: null,
  defaultModel: null,
  ...origin,
  responses: [],
  calls: [],
  declarations: [],
})

/** The names of the tools that run other agents: these run in a replay, too. */
export const agentToolsOf = (documents: ToolDocument[]): Set<string> =>
  new Set(documents.flatMap(({ agent, name }) => (agent ? [name] : [])))

/** In the folder of the agent. */
export const RECORDINGS_FOLDER = 'recordings'

const HEADER = `# What a test case received from models and tools. Written by "agents test --record", used by "agents test --replay".
`

/** The path of the recording of a case. A name that is not unique as a file name gets a hash. */
export function recordingFile(folder: string, name: string, names: string[]): string {
  const base = toFileName(name)
  const isUnique = base !== '' && names.filter((other) => toFileName(other) === base).length === 1
  return join(folder, RECORDINGS_FOLDER, `${isUnique ? base : `${base}-${sha256(name).slice(0, 8)}`}.yaml`)
}

const MAX_FILE_NAME = 80

const toFileName = (name: string): string =>
  name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, MAX_FILE_NAME)
    .replaceAll(/^-|-$/g, '')

/** Null if there is none. @throws an Error if the file is not a recording */
export async function readRecording(file: string): Promise<Recording | null> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw error
  })
  if (text === null) return null
  const recording = parse(text) as Recording | null
  if (Array.isArray(recording?.responses) && Array.isArray(recording.calls)) return recording
  throw new Error(`${file} is not a recording. Record it again with --record.`)
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
