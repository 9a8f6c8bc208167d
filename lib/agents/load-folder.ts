import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { basename, join, relative, resolve } from 'node:path'
import { bundleCode } from './bundle-code.ts'
import { checkSchemas } from './check-schemas.ts'
import type { AgentDocument } from './document.ts'
import { parseDocument } from './parse-document.ts'

export const DOCUMENT_FILE = 'agent.md'
const CODE_FILES = ['agent.ts', 'agent.mts', 'agent.js', 'agent.mjs']

/** Bytes of an `agent.md`: the record that every run reads holds it twice, within DynamoDB's 400 KB an item. */
const MAX_DOCUMENT_BYTES = 150_000

export type FolderProblem = { file: string; line: number; field: string | null; message: string }

/** An agent read from its folder, checked and bundled, ready to publish. */
export type LoadedAgent = { document: AgentDocument; code: string | null; digest: string }

export type Loaded = { agent: LoadedAgent; problems: [] } | { agent: null; problems: FolderProblem[] }

/** Reads and checks an agent's folder. Problems name the file as seen from the working directory. */
export async function loadFolder(folder: string): Promise<Loaded> {
  const path = resolve(folder)
  const file = relative(process.cwd(), join(path, DOCUMENT_FILE))
  const text = await readFile(join(path, DOCUMENT_FILE), 'utf8').catch(
    (error: NodeJS.ErrnoException) => error,
  )
  if (typeof text !== 'string') {
    return failed({ file, line: 1, field: null, message: `cannot be read: ${text.code ?? text.message}` })
  }
  if (Buffer.byteLength(text) > MAX_DOCUMENT_BYTES) {
    return failed({ file, line: 1, field: null, message: `is larger than ${MAX_DOCUMENT_BYTES} bytes` })
  }
  const parsed = parseDocument(text, basename(path))
  if (!parsed.document) return failed(...parsed.problems.map((problem) => ({ file, ...problem })))

  const { document, lineOf } = parsed
  const findings = checkSchemas(document)
  if (findings.length > 0) {
    return failed(
      ...findings.map((finding) => ({
        file,
        line: lineOf(finding.path),
        field: finding.path.join('.'),
        message: finding.message,
      })),
    )
  }
  const codeFile = CODE_FILES.map((name) => join(path, name)).find(existsSync)
  const conflict = kindConflict(document, codeFile && basename(codeFile))
  if (conflict) return failed({ file, line: lineOf(['code']), field: 'code', message: conflict })
  if (!codeFile) return { agent: { document, code: null, digest: digestOf(document, null) }, problems: [] }

  const { code, problems } = await bundleCode(codeFile)
  if (problems.length > 0) {
    return failed(
      ...problems.map((problem) => ({
        ...problem,
        file: relative(process.cwd(), resolve(problem.file)),
        field: null,
      })),
    )
  }
  return { agent: { document, code, digest: digestOf(document, code) }, problems: [] }
}

function kindConflict(document: AgentDocument, codeFile: string | undefined): string | null {
  if (document.code && !codeFile) return `is true, but the folder has none of ${CODE_FILES.join(', ')}`
  if (!document.code && codeFile) return `must be true for ${codeFile} to run`
  if (!document.code) return 'must be true: this release runs code agents; model agents are not there yet'
  return document.model ? 'and model exclude each other: a code agent runs no model' : null
}

function failed(...problems: FolderProblem[]): Loaded {
  return { agent: null, problems }
}

function digestOf(document: AgentDocument, code: string | null): string {
  return createHash('sha256')
    .update(JSON.stringify([document, code]))
    .digest('hex')
}
