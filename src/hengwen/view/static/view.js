
// The live parts of hengwen view: forms that answer at once, keys, news of what runs. All of it is a link or a
// form without this script.
