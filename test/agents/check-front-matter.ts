import { checkDocument } from '../../lib/agents/document/check-document.ts'

/** Checks a document. A problem is its line, its field and its message in one text. */
export async function checkFrontMatter(frontMatter: string, { hasCode = false, body = '' } = {}) {
  const source = { defaultSlug: 'refund', hasCode, withCode: 'there is code', withoutCode: 'there is none' }
  const { document, problems } = await checkDocument(`---\n${frontMatter}\n---\n${body}`, source)
  return { document, problems: problems.map(({ line, field, message }) => `${line} ${field}: ${message}`) }
}
