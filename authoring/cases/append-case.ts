import { isCollection, isSeq, parseDocument, stringify } from 'yaml'
import type { TestCase } from './case-file.ts'
import { EXACT_YAML } from './exact-yaml.ts'

const FORMAT = { ...EXACT_YAML, lineWidth: 0, aliasDuplicateObjects: false } as const

/**
 * Adds a case to the text of a valid `cases.yaml`. The text before it stays as it is, with its comments; only a list in
 * brackets is formatted again.
 */
export function appendCase(text: string, testCase: TestCase): string {
  const document = parseDocument(text, EXACT_YAML)
  const { contents } = document
  if (!isCollection(contents)) return join(text, stringify([testCase], FORMAT))
  if (isSeq(contents) && !contents.flow)
    return join(text, indent(stringify([testCase], FORMAT), columnOf(text)))
  document.add(document.createNode(testCase))
  return document.toString(FORMAT)
}

/** With an empty line between. */
const join = (text: string, added: string): string =>
  text.trim() === '' ? added : `${text.trimEnd()}\n\n${added}`

/** Spaces before the items of a list. */
const columnOf = (text: string): string => /^( *)-(?: |$)/m.exec(text)?.[1] ?? ''

const indent = (text: string, spaces: string): string => text.replaceAll(/^(?=.)/gm, spaces)
