/** In a separate file, so that `npm start` can search for agents without loading the document parser. */
export const DOCUMENT_FILE = 'agent.md'
