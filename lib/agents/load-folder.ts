import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { basename, join, relative, resolve } from 'node:path'
import { bundleCode } from './bundle-code.ts'
import type { AgentDocument } from './document.ts'
import { DOCUMENT_FILE } from './document-file.ts'
import { type ParsedDocument, parseDocument } from './parse-document.ts'

const CODE_FILES = ['agent.ts', 'agent.mts', 'agent.js', 'agent.mjs']

/**
 * Bytes of an `agent.md`, also once its YAML aliases are expanded: the record that every run reads holds it twice,
 * within DynamoDB's 400 KB an item.
 */
const MAX_DOCUMENT_BYTES = 150_000

export type FolderProblem = { file: string; line: number; field: string | null; message: string }

/** An agent read from its folder, checked and bundled, ready to publish. */
export type LoadedAgent = {
  document: AgentDocument
  code: string | null
  digest: string
  /** Every file that its code is made of, those of packages included. */
  sources: string[]
}

export type Loaded = { agent: LoadedAgent; problems: [] } | { agent: null; problems: FolderProblem[] }

/** Reads and checks an agent's folder. Problems name the file as seen from the working directory. */
export async function loadFolder(folder: string): Promise<Loaded> {
  const path = resolve(folder)
  const codeFile = CODE_FILES.map((name) => join(path, name)).find(existsSync)
  const [read, bundled] = await Promise.all([readDocument(path), codeFile ? bundleCode(codeFile) : null])
  const problems: FolderProblem[] = [
    ...documentProblems(read, codeFile).map((problem) => ({ ...problem, file: join(path, DOCUMENT_FILE) })),
    ...(bundled?.problems ?? []).map((problem) => ({ ...problem, field: null })),
  ].map((problem) => ({ ...problem, file: relative(process.cwd(), resolve(problem.file)) }))
  if (problems.length > 0 || typeof read === 'string' || !read.document) return { agent: null, problems }

  const { document } = read
  const code = bundled?.code ?? null
  const sources = bundled?.sources ?? []
  return { agent: { document, code, digest: digestOf(document, code), sources }, problems: [] }
}

/** `agents/foo/agent.md:7: input.total.type: is missing`: as compilers write it, so that editors find the place. */
export function describeProblem({ file, line, field, message }: FolderProblem): string {
  return `${file}:${line}: ${field ? `${field}: ` : ''}${message}`
}

/** The parsed document, or why there is none. */
async function readDocument(path: string): Promise<ParsedDocument | string> {
  try {
    const bytes = await readFile(join(path, DOCUMENT_FILE))
    if (bytes.length > MAX_DOCUMENT_BYTES) return `is larger than ${MAX_DOCUMENT_BYTES} bytes`
    return parseDocument(new TextDecoder('utf-8', { fatal: true }).decode(bytes), basename(path))
  } catch (error) {
    if (error instanceof TypeError) return 'is not UTF-8 text'
    if (!existsSync(path)) return 'is missing: there is no such folder'
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOTDIR') return 'is missing: its folder is a file'
    return code === 'ENOENT' ? 'is missing: it is what makes a folder an agent' : `cannot be read: ${message}`
  }
}

function documentProblems(read: ParsedDocument | string, codeFile: string | undefined) {
  if (typeof read === 'string') return [{ line: 1, field: null, message: read }]
  if (!read.document) return read.problems
  const { document, lineOf } = read
  const conflict = kindConflict(document, codeFile && basename(codeFile))
  if (conflict) return [{ line: lineOf([conflict.field]), ...conflict }]
  const bytes = Buffer.byteLength(JSON.stringify(document))
  const message = `expands to ${bytes} bytes; ${MAX_DOCUMENT_BYTES} are allowed`
  return bytes > MAX_DOCUMENT_BYTES ? [{ line: 1, field: null, message }] : []
}

/** A code agent has code and nothing of a model; a model agent has instructions and no code. */
function kindConflict(document: AgentDocument, codeFile: string | undefined) {
  const { code, model, tools, instructions } = document
  if (code && !codeFile) {
    return { field: 'code', message: `is true, but the folder has none of ${CODE_FILES.join(', ')}` }
  }
  if (!code && codeFile) return { field: 'code', message: `must be true for ${codeFile} to run` }
  if (code && model) return { field: 'model', message: 'must be left out: a code agent runs no model' }
  if (code && tools.length > 0)
    return { field: 'tools', message: 'must be left out: a code agent calls what it needs' }
  if (!code && instructions === '') {
    return {
      field: 'instructions',
      message: 'are missing: the text below the front matter tells the model what to do',
    }
  }
  return null
}

function digestOf(document: AgentDocument, code: string | null): string {
  return createHash('sha256')
    .update(JSON.stringify([document, code]))
    .digest('hex')
}
