// Style sheets are imported for their effect: the build puts them into the CSS file of the page.
declare module '*.css';
