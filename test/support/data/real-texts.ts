import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const TEXT_FILE =
  /^(?:licen[cs]e|changelog|readme|thirdpartynotice|third-party|notice|authors)|\.(?:md|txt)$/i
const CODE_FILE = /\.(?:[cm]?[jt]s|json|map|html)$/i
const HAS_ADDRESS = /[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+\.[A-Za-z]{2,}/
const SAMPLE_SIZE = 50

/** The longest licenses, changelogs and readmes of the dependencies: texts with real email addresses. */
export function realTexts(): { path: string; content: string }[] {
  return readdirSync('node_modules', { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && TEXT_FILE.test(entry.name) && !CODE_FILE.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => ({ path, content: readFileSync(path, 'utf8') }))
    .filter(({ content }) => HAS_ADDRESS.test(content))
    .sort((a, b) => b.content.length - a.content.length || a.path.localeCompare(b.path))
    .slice(0, SAMPLE_SIZE)
}
